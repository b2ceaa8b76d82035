import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, type ReactNode } from 'react'
import { AddressLink } from '../../addresses/address-link.tsx'
import { loadScreen } from '../../frame/load-screen.ts'
import { Loading, LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { utcDayText } from '../../ui/text/dates.ts'
import { numberText } from '../../ui/text/format.ts'
import { complaintsQuery, type ComplaintProvider, type ComplaintSummary } from './api.ts'
import { ComplaintAddressCard } from './complaint-address.tsx'
import { campaignName, complaints as messages } from './messages.ts'

/** A file of its own: most domains have no complaints. */
const ComplaintChart = lazy(async () => ({
  default: (await loadScreen('the chart', () => import('./complaint-chart.tsx'))).ComplaintChart,
}))

/** Complaints about the mail of a domain that providers report, and the address for them. */
export function Complaints({ domain }: { domain: string }) {
  const { data, error } = useQuery(complaintsQuery(domain))
  return (
    <Section title={messages.title}>
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data && <ComplaintAddressCard summary={data} />}
      {data && data.address !== null && data.providers.length === 0 && (
        <Notice tone="unknown" title={messages.none}>
          <p>{messages.noneText}</p>
        </Notice>
      )}
      {data && data.providers.length > 0 && <Summary summary={data} />}
    </Section>
  )
}

function Summary({ summary }: { summary: ComplaintSummary }) {
  const { providers, sources, domains, campaigns } = summary
  return (
    <>
      <Suspense
        fallback={
          <Loading shape="chart" lines={1}>
            {messages.loading}
          </Loading>
        }
      >
        <ComplaintChart summary={summary} />
      </Suspense>
      <Table caption={messages.providers} columns={messages.providerColumns}>
        {providers.map((provider) => (
          <ProviderRow key={provider.provider} provider={provider} />
        ))}
      </Table>
      <p>
        <Muted>{messages.rateHint}</Muted>
      </p>
      {sources.length > 0 && (
        <Table caption={messages.sources} columns={messages.sourceColumns}>
          {sources.map((row) => (
            <GroupRow key={row.source} row={row}>
              {row.source === null ? messages.unknown : <AddressLink address={row.source} />}
            </GroupRow>
          ))}
        </Table>
      )}
      {domains.length > 1 && (
        <Table caption={messages.domains} columns={messages.domainColumns}>
          {domains.map((row) => (
            <GroupRow key={row.domain} row={row}>
              {row.domain ?? messages.unknown}
            </GroupRow>
          ))}
        </Table>
      )}
      {campaigns.length > 0 && (
        <Table caption={messages.campaigns} columns={messages.campaignColumns}>
          {campaigns.map((row) => (
            <GroupRow key={`${row.kind} ${row.campaign}`} row={row}>
              {campaignName(row)} {row.campaign !== null && <code>{row.campaign}</code>}
            </GroupRow>
          ))}
        </Table>
      )}
    </>
  )
}

const TONES = { raised: 'warn', high: 'bad' } as const

function ProviderRow({ provider }: { provider: ComplaintProvider }) {
  const { name, complaints, unverified, alert, firstDay } = provider
  const [, countColumn, rateColumn, sinceColumn] = messages.providerColumns
  return (
    <tr>
      <th scope="row">{name}</th>
      <td data-label={countColumn}>
        {numberText(complaints)}
        {unverified > 0 && <small>{messages.unverified(unverified)}</small>}
      </td>
      <td data-label={rateColumn}>
        {alert === null ? (
          messages.rate(provider)
        ) : (
          <Status tone={TONES[alert]}>{messages.rate(provider)}</Status>
        )}
      </td>
      <td data-label={sinceColumn}>
        {firstDay === null ? messages.notAuthenticated : utcDayText(firstDay)}
      </td>
    </tr>
  )
}

type Group = { complaints: number; recipients: number | null; lastAt: string }

function GroupRow({ row, children }: { row: Group; children: ReactNode }) {
  const { complaints, recipients, lastAt } = row
  const [, countColumn, latestColumn] = messages.sourceColumns
  return (
    <tr>
      <th scope="row">{children}</th>
      <td data-label={countColumn}>
        {numberText(complaints)}
        {recipients !== null && <small>{messages.recipients(recipients)}</small>}
      </td>
      <td data-label={latestColumn}>
        <Ago at={lastAt} />
      </td>
    </tr>
  )
}
