import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { AddressLink } from '../../addresses/address-link.tsx'
import { loadScreen } from '../../frame/load-screen.ts'
import { Loading, LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { messages as ui } from '../../ui/messages.ts'
import { utcDayText } from '../../ui/text/dates.ts'
import { spamRatesQuery, type GoogleRequirement, type SndsDay, type SpamRates } from './api.ts'
import { GoogleAccess } from './google-access.tsx'
import { statistics as messages } from './messages.ts'
import { SndsAccessCard } from './snds-access.tsx'

/** Files of their own: most domains have no statistics. */
const SpamRateChart = lazy(async () => ({
  default: (await loadScreen('the chart', () => import('./spam-rate-chart.tsx'))).SpamRateChart,
}))
const RatesTable = lazy(async () => ({
  default: (await loadScreen('the table', () => import('./rates-table.tsx'))).RatesTable,
}))
const GoogleDays = lazy(async () => ({
  default: (await loadScreen('the table', () => import('./google-days.tsx'))).GoogleDays,
}))

/** What providers say of a domain, and the accesses to them. */
export function ProviderStatistics({ domain }: { domain: string }) {
  const { data, error } = useQuery(spamRatesQuery(domain))
  return (
    <Section title={messages.title}>
      <p>
        <Muted>{messages.lead}</Muted>
      </p>
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data && <Found rates={data} />}
      <GoogleAccess domain={domain} />
      <SndsAccessCard />
    </Section>
  )
}

function Found({ rates }: { rates: SpamRates }) {
  const { providers, google, addresses, alerts } = rates
  const loading = (
    <Loading shape="chart" lines={1}>
      {messages.loading}
    </Loading>
  )
  if (providers.length === 0 && google.requirements.length === 0 && addresses.length === 0)
    return (
      <Notice tone="unknown" title={messages.nothing}>
        <p>{messages.nothingText}</p>
      </Notice>
    )
  return (
    <>
      {alerts.map(({ provider, level }) => (
        <Notice key={provider} tone={level === 'high' ? 'bad' : 'warn'}>
          <p>{messages.alert[level](nameOf(rates, provider))}</p>
        </Notice>
      ))}
      {providers.length > 0 && (
        <div>
          <Suspense fallback={loading}>
            <SpamRateChart rates={rates} />
          </Suspense>
          <Disclosure summary={ui.chart.table}>
            {() => (
              <Suspense fallback={loading}>
                <RatesTable rates={rates} />
              </Suspense>
            )}
          </Disclosure>
        </div>
      )}
      {google.requirements.length > 0 && <Requirements google={google} />}
      {google.days.length > 0 && (
        <Disclosure summary={messages.counts}>
          {() => (
            <Suspense fallback={loading}>
              <GoogleDays days={google.days} />
            </Suspense>
          )}
        </Disclosure>
      )}
      {addresses.length > 0 && (
        <Table caption={messages.addresses} columns={messages.addressColumns}>
          {addresses.map((row) => (
            <AddressRow key={row.address} row={row} />
          ))}
        </Table>
      )}
    </>
  )
}

function nameOf({ providers }: SpamRates, provider: string): string {
  return providers.find((each) => each.provider === provider)?.name ?? provider
}

const REQUIREMENT_TONES = { compliant: 'good', 'needs-work': 'bad', unknown: 'unknown' } as const

function Requirements({ google }: { google: SpamRates['google'] }) {
  const { requirements, evaluatedDomain } = google
  return (
    <>
      <Table caption={messages.requirements} columns={messages.requirementColumns}>
        {requirements.map((row) => (
          <RequirementRow key={row.requirement} row={row} />
        ))}
      </Table>
      {evaluatedDomain !== null && (
        <p>
          <Muted>{messages.requirementsOf(evaluatedDomain)}</Muted>
        </p>
      )}
    </>
  )
}

function RequirementRow({ row: { title, state, reason, action } }: { row: GoogleRequirement }) {
  const [, stateColumn, actionColumn] = messages.requirementColumns
  return (
    <tr>
      <th scope="row">{title}</th>
      <td data-label={stateColumn}>
        <Status tone={REQUIREMENT_TONES[state]}>{messages.states[state]}</Status>
      </td>
      <td data-label={actionColumn}>
        {action ?? messages.noAction}
        {reason !== null && <small>{reason}</small>}
      </td>
    </tr>
  )
}

const FILTER_TONES = { green: 'good', yellow: 'warn', red: 'bad' } as const

function AddressRow({ row }: { row: SndsDay }) {
  const { address, day, filter } = row
  const [, dayColumn, ratingColumn, complaintsColumn, messagesColumn] = messages.addressColumns
  return (
    <tr>
      <th scope="row">
        <AddressLink address={address} />
      </th>
      <td data-label={dayColumn}>{utcDayText(day)}</td>
      <td data-label={ratingColumn}>
        {filter === null ? (
          messages.noData
        ) : (
          <Status tone={FILTER_TONES[filter]}>{messages.filters[filter]}</Status>
        )}
      </td>
      <td data-label={complaintsColumn}>{messages.complaints(row)}</td>
      <td data-label={messagesColumn}>{messages.messagesOf(row)}</td>
    </tr>
  )
}
