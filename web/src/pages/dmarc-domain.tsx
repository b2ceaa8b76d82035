import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { domainQuery, summaryQuery, type Summary } from '../dmarc/api.ts'
import { DailyMessages } from '../dmarc/summary/daily-messages.tsx'
import { DomainPage } from '../dmarc/domains/domain-page.tsx'
import { mailStats } from '../dmarc/summary/mail-stats.ts'
import { RecordInstructions } from '../dmarc/domains/record-instructions.tsx'
import { daysParameter, type SummaryDays } from '../dmarc/search.ts'
import { SourceTables } from '../dmarc/sources/source-tables.tsx'
import { DaysChoice } from '../dmarc/summary/days-choice.tsx'
import { partsOf, shareText, READINESS_TONES } from '../dmarc/words.ts'
import { dayText } from '../ui/charts/daily-chart.tsx'
import { Stats } from '../ui/lists/stats.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Section, Muted } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError, Loading } from '../ui/feedback/loading.tsx'
import { counted, numberText } from '../ui/text/format.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/dmarc/$id' })
  const { days = 30 } = useSearch({ from: '/own/dmarc/$id' })
  const navigate = useNavigate({ from: '/dmarc/$id' })
  const { data: summary, error } = useQuery({ ...summaryQuery(id, days), placeholderData: keepPreviousData })
  return (
    <DomainPage
      id={id}
      aside={<DaysChoice days={days} onChange={(to) => void navigate({ search: { days: to }, replace: true })} />}
    >
      <LoadingOrError there={summary} error={error} lines={6}>
        Summing up …
      </LoadingOrError>
      {summary && <Known id={id} days={daysParameter(days)} summary={summary} />}
    </DomainPage>
  )
}

function Known({ id, days, summary }: { id: string; days: SummaryDays | undefined; summary: Summary }) {
  const { readiness, totals } = summary
  const { verdict, rest } = partsOf(readiness.sentence)
  return (
    <>
      <div role="status">
        <Notice tone={READINESS_TONES[readiness.verdict]}>
          <strong>{verdict}.</strong>
          {rest && <p>{rest}</p>}
        </Notice>
      </div>
      {totals.messages === 0 ? (
        <FirstReport id={id} />
      ) : (
        <>
          <Totals summary={summary} />
          <DailyMessages {...summary} />
          <SourceTables at={{ id, days }} summary={summary} />
          <Reporters id={id} summary={summary} />
          <Selectors summary={summary} />
        </>
      )}
    </>
  )
}

/** Before there is anything to show: what lets reports come. */
function FirstReport({ id }: { id: string }) {
  const { data: domain } = useQuery(domainQuery(id))
  return (
    <Section title="How reports come">
      {domain ? <RecordInstructions domain={domain} /> : <Loading lines={3}>Asking the DNS …</Loading>}
    </Section>
  )
}

function Totals({ summary: { totals, readiness, sourceCount } }: { summary: Summary }) {
  return (
    <Stats
      stats={[
        ...mailStats(totals),
        ['Sources', numberText(sourceCount)],
        ['Reports', numberText(totals.reports)],
        ['Policy', readiness.published && `p=${readiness.published}`],
      ]}
    />
  )
}

function Reporters({ id, summary: { reporters } }: { id: string; summary: Summary }) {
  return (
    <Section title="Who reported">
      <Table caption="Who reported" quiet columns={['Reporter', 'Reports', 'Messages', 'Last day']}>
        {reporters.map(({ orgName, reports, messages, fail, lastDay }) => (
          <tr key={orgName}>
            <th scope="row">
              <Link to="/dmarc/$id/reports" params={{ id }} search={{ orgName }}>
                {orgName}
              </Link>
            </th>
            <td>{counted(reports, 'report')}</td>
            <td>
              {counted(messages, 'message')}
              {fail > 0 && <small>{numberText(fail)} failed</small>}
            </td>
            <td>
              <Muted>{dayText(lastDay)}</Muted>
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}

function Selectors({ summary: { selectors } }: { summary: Summary }) {
  if (selectors.length === 0) return null
  return (
    <Section title="DKIM keys that sign">
      <Table caption="DKIM keys that sign" quiet columns={['Selector', 'Messages', 'Last day']}>
        {selectors.map(({ domain, selector, messages, pass, lastDay }) => (
          <tr key={`${selector} ${domain}`}>
            <th scope="row">
              {selector}
              <small>{domain}</small>
            </th>
            <td>
              {counted(messages, 'message')}
              <small>{shareText(pass, messages)} of the signatures hold</small>
            </td>
            <td>
              <Muted>{dayText(lastDay)}</Muted>
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}
