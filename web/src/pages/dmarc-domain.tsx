import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { domainQuery, summaryQuery, type Summary } from '../dmarc/api.ts'
import { DailyMessages } from '../dmarc/summary/daily-messages.tsx'
import { DomainPage } from '../dmarc/domains/domain-page.tsx'
import { mailStats } from '../dmarc/summary/mail-stats.ts'
import { RecordInstructions } from '../dmarc/domains/record-instructions.tsx'
import { readinessTitle, shared, summary as messages } from '../dmarc/messages.ts'
import { DEFAULT_DAYS, daysParameter, type SummaryDays } from '../dmarc/search.ts'
import { SenderRates } from '../dmarc/summary/sender-rates.tsx'
import { SenderTable } from '../dmarc/sources/sender-table.tsx'
import { SourceTables } from '../dmarc/sources/source-tables.tsx'
import { DaysChoice } from '../dmarc/summary/days-choice.tsx'
import { shareText } from '../dmarc/share-text.ts'
import { READINESS_TONES } from '../dmarc/tones.ts'
import { utcDayText } from '../ui/text/dates.ts'
import { Stats } from '../ui/lists/stats.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Section, Muted } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError, Loading } from '../ui/feedback/loading.tsx'
import { counted, numberText } from '../ui/text/format.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/dmarc/$id' })
  const { days = DEFAULT_DAYS } = useSearch({ from: '/own/dmarc/$id' })
  const navigate = useNavigate({ from: '/dmarc/$id' })
  const { data: summary, error } = useQuery({
    ...summaryQuery(id, days),
    placeholderData: keepPreviousData,
  })
  return (
    <DomainPage
      id={id}
      aside={
        <DaysChoice
          days={days}
          onChange={(to) =>
            void navigate({ search: (before) => ({ ...before, days: to }), replace: true })
          }
        />
      }
    >
      <LoadingOrError there={summary} error={error} lines={6}>
        {messages.loading}
      </LoadingOrError>
      {summary && <Results id={id} days={daysParameter(days)} summary={summary} />}
    </DomainPage>
  )
}

function Results({
  id,
  days,
  summary,
}: {
  id: string
  days: SummaryDays | undefined
  summary: Summary
}) {
  const { readiness, totals } = summary
  return (
    <>
      <div role="status">
        <Notice tone={READINESS_TONES[readiness.verdict]}>
          <strong>{readinessTitle(readiness)}</strong>
          <p>{readiness.sentence}</p>
        </Notice>
      </div>
      {totals.messages === 0 ? (
        <FirstReport id={id} />
      ) : (
        <>
          <Totals summary={summary} />
          <DailyMessages id={id} {...summary} />
          <SenderRates id={id} days={days ?? DEFAULT_DAYS} />
          <SenderTable
            id={id}
            queryKey={summaryQuery(id, days ?? DEFAULT_DAYS).queryKey}
            senders={summary.senders}
          />
          <SourceTables at={{ id, days }} summary={summary} />
          <Reporters id={id} summary={summary} />
          <Selectors summary={summary} />
        </>
      )}
    </>
  )
}

/** Shown before the first report: how to get reports. */
function FirstReport({ id }: { id: string }) {
  const { data: domain } = useQuery(domainQuery(id))
  return (
    <Section title={messages.firstReport}>
      {domain ? (
        <RecordInstructions domain={domain} />
      ) : (
        <Loading lines={3} slow>
          {messages.checkingDns}
        </Loading>
      )}
    </Section>
  )
}

function Totals({ summary: { totals, readiness, sourceCount } }: { summary: Summary }) {
  return (
    <Stats
      stats={[
        ...mailStats(totals),
        [shared.sources, numberText(sourceCount)],
        [shared.reports, numberText(totals.reports)],
        [messages.policy, readiness.published && `p=${readiness.published}`],
      ]}
    />
  )
}

function Reporters({ id, summary: { reporters } }: { id: string; summary: Summary }) {
  return (
    <Section title={messages.reporters}>
      <Table
        caption={messages.reporters}
        quiet
        columns={[shared.reporter, shared.reports, shared.messages, messages.lastDay]}
      >
        {reporters.map(({ orgName, reports, messages: count, fail, lastDay }) => (
          <tr key={orgName}>
            <th scope="row">
              <Link to="/dmarc/$id/reports" params={{ id }} search={{ orgName }}>
                {orgName}
              </Link>
            </th>
            <td>{counted(reports, shared.report)}</td>
            <td>
              {counted(count, shared.message)}
              {fail > 0 && <small>{shared.failedCount(fail)}</small>}
            </td>
            <td>
              <Muted>{utcDayText(lastDay)}</Muted>
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
    <Section title={messages.selectors}>
      <Table
        caption={messages.selectors}
        quiet
        columns={[messages.selector, shared.messages, messages.lastDay]}
      >
        {selectors.map(({ domain, selector, messages: count, pass, lastDay }) => (
          <tr key={`${selector} ${domain}`}>
            <th scope="row">
              {selector}
              <small>{domain}</small>
            </th>
            <td>
              {counted(count, shared.message)}
              <small>{messages.validSignatures(shareText(pass, count))}</small>
            </td>
            <td>
              <Muted>{utcDayText(lastDay)}</Muted>
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}
