import { AddressLink } from '../addresses/address-link.tsx'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { SourceAdviceList } from '../dmarc/sources/source-advice.tsx'
import { domainsQuery, sourceQuery, type Source, type SourceDetail } from '../dmarc/api.ts'
import { DailyMessages } from '../dmarc/summary/daily-messages.tsx'
import { SourceIdentities } from '../dmarc/sources/source-identities.tsx'
import { mailStats } from '../dmarc/summary/mail-stats.ts'
import { RelatedSources } from '../dmarc/sources/related-sources.tsx'
import { periodSearch, type Period, type SourceFilter } from '../dmarc/search.ts'
import { SourceRecords } from '../dmarc/sources/source-records.tsx'
import { PeriodChoice } from '../dmarc/summary/period-choice.tsx'
import { describeReverseName, describeNetwork, sourceName } from '../dmarc/sources/source-labels.ts'
import { ADVICE_TONES } from '../dmarc/tones.ts'
import { source as messages, sourceGroups } from '../dmarc/messages.ts'
import { Button } from '../ui/actions/button.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Stats } from '../ui/lists/stats.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'

const FROM = '/own/dmarc/$id/sources/$address'

/** One address that sends in the domain's name. */
export function Screen() {
  const { id, address } = useParams({ from: FROM })
  const { days, from, to, ...filter } = useSearch({ from: FROM })
  const period = periodSearch({ days, from, to })
  const navigate = useNavigate({ from: '/dmarc/$id/sources/$address' })
  const { data: domains } = useQuery(domainsQuery)
  const { data: detail, error } = useQuery({
    ...sourceQuery(id, address, period),
    placeholderData: keepPreviousData,
  })
  const domain = domains?.find((each) => each.id === id)?.domain ?? messages.unknownDomain
  const go = (changed: SourceFilter, changedPeriod: Period = period) =>
    void navigate({
      search: { ...filter, page: undefined, ...changed, ...changedPeriod },
      replace: true,
      resetScroll: false,
    })
  return (
    <Page
      wide
      title={detail?.source ? sourceName(detail.source) : address}
      above={
        <BackLink to="/dmarc/$id" params={{ id }} search={period}>
          {messages.of(domain)}
        </BackLink>
      }
      rail={
        detail
          ? detail.source && (
              <Section title={messages.details}>
                <SourceFacts source={detail.source} />
              </Section>
            )
          : null
      }
      aside={<PeriodChoice period={period} range={detail} onChange={(chosen) => go({}, chosen)} />}
    >
      <LoadingOrError there={detail} error={error} lines={6}>
        {messages.loading}
      </LoadingOrError>
      {detail && <Verdict advice={detail.advice} />}
      {detail && !detail.source && days !== 'all' && (
        <div>
          <Button onClick={() => go({}, { days: 'all' })}>{messages.showAllDays}</Button>
        </div>
      )}
      {detail?.source && (
        <>
          <Stats stats={mailStats(detail.source)} />
          <SourceAdviceList {...detail} />
          <DailyMessages {...detail} id={id} totals={detail.source} />
          <SourceIdentities identities={detail.identities} />
          <RelatedSources id={id} period={period} source={detail.source} />
          <SourceRecords id={id} address={address} period={period} filter={filter} onFilter={go} />
        </>
      )}
    </Page>
  )
}

function Verdict({ advice: { verdict, sentence } }: Pick<SourceDetail, 'advice'>) {
  return (
    <div role="status">
      <Notice tone={ADVICE_TONES[verdict]}>
        <strong>{sentence}</strong>
      </Notice>
    </div>
  )
}

function SourceFacts({ source }: { source: Source }) {
  const { sourceIp, organizationalDomain, reverseConfirmed, group } = source
  return (
    <Facts
      facts={[
        [messages.address, <AddressLink key="address" address={sourceIp} />],
        [messages.reverseName, describeReverseName(source)],
        [messages.organisation, reverseConfirmed && organizationalDomain],
        [messages.network, describeNetwork(source)],
        [messages.group, sourceGroups[group].title],
        [
          messages.check,
          <Link key="check" to="/addresses/$ip" params={{ ip: sourceIp }}>
            {messages.allAbout}
          </Link>,
        ],
      ]}
    />
  )
}
