import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { domainQuery, summaryQuery, type Summary } from '../dmarc/api.ts'
import { DailyMessages } from '../dmarc/summary/daily-messages.tsx'
import { DomainPage } from '../dmarc/domains/domain-page.tsx'
import { mailStats } from '../dmarc/summary/mail-stats.ts'
import { RecordInstructions } from '../dmarc/domains/record-instructions.tsx'
import { readinessTitle, shared, summary as messages } from '../dmarc/messages.ts'
import { periodQuery, periodSearch, periodWithReports, type Period } from '../dmarc/search.ts'
import { SenderRates } from '../dmarc/summary/sender-rates.tsx'
import { SenderTable } from '../dmarc/sources/sender-table.tsx'
import { SourceTables } from '../dmarc/sources/source-tables.tsx'
import { PeriodChoice } from '../dmarc/summary/period-choice.tsx'
import { Undecided } from '../dmarc/sources/undecided.tsx'
import { shareText } from '../dmarc/share-text.ts'
import { READINESS_TONES } from '../dmarc/tones.ts'
import { Button } from '../ui/actions/button.tsx'
import { Change } from '../ui/text/change.tsx'
import { utcDayText, utcLongDayText } from '../ui/text/dates.ts'
import { Stats } from '../ui/lists/stats.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Section, Muted } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError, Loading } from '../ui/feedback/loading.tsx'
import { counted, numberText } from '../ui/text/format.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/dmarc/$id' })
  const search = useSearch({ from: '/own/dmarc/$id' })
  const period = periodSearch(search)
  const navigate = useNavigate({ from: '/dmarc/$id' })
  const { data: summary, error } = useQuery({
    ...summaryQuery(id, period),
    placeholderData: keepPreviousData,
  })
  const go = ({ days, from, to }: Period) =>
    void navigate({ search: (before) => ({ ...before, days, from, to }), replace: true })
  return (
    <DomainPage id={id} aside={<PeriodChoice period={period} range={summary} onChange={go} />}>
      <LoadingOrError there={summary} error={error} lines={6}>
        {messages.loading}
      </LoadingOrError>
      {summary && <Results id={id} period={period} summary={summary} onPeriod={go} />}
    </DomainPage>
  )
}

type ResultsProps = {
  id: string
  period: Period
  summary: Summary
  onPeriod: (period: Period) => void
}

function Results({ id, period, summary, onPeriod }: ResultsProps) {
  const { readiness, totals, reported } = summary
  const { queryKey } = summaryQuery(id, period)
  const isStale = readiness.verdict === 'no-data' && reported !== null
  const verdict = (
    <Notice tone={READINESS_TONES[readiness.verdict]}>
      <strong>{isStale ? messages.noneLately : readinessTitle(readiness)}</strong>
      <p>{isStale ? messages.newest(utcLongDayText(reported.to)) : readiness.sentence}</p>
      <Undecided id={id} queryKey={queryKey} senders={readiness.undecided} />
    </Notice>
  )
  if (totals.messages === 0)
    return (
      <>
        <div role="status">
          {reported ? (
            <NoMessages period={period} newest={reported.to} onPeriod={onPeriod} />
          ) : (
            verdict
          )}
        </div>
        {!reported && <FirstReport id={id} />}
      </>
    )
  return (
    <>
      <div role="status">{verdict}</div>
      <Totals summary={summary} />
      <DailyMessages id={id} {...summary} />
      <SenderRates id={id} period={period} />
      <SenderTable id={id} queryKey={queryKey} senders={summary.senders} />
      <SourceTables at={{ id, period }} summary={summary} />
      <Reporters id={id} summary={summary} />
      <Selectors summary={summary} />
    </>
  )
}

/** Reports are stored, but none in the period. */
function NoMessages({
  period,
  newest,
  onPeriod,
}: Pick<ResultsProps, 'period' | 'onPeriod'> & { newest: string }) {
  const isDefault = periodQuery(period)['period'] === '30d'
  return (
    <Notice tone="info">
      <strong>{isDefault ? messages.noneLately : messages.noMessages}</strong>
      <p>{messages.newest(utcLongDayText(newest))}</p>
      <p>
        <Button onClick={() => onPeriod(periodWithReports({ from: newest, to: newest }))}>
          {messages.showNewest}
        </Button>
      </p>
    </Notice>
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

function Totals({ summary }: { summary: Summary }) {
  const { totals, before, readiness, sourceCount } = summary
  const [[sent, count] = [shared.messages, ''], ...results] = mailStats(totals)
  const change = before && (
    <Change
      now={totals.messages}
      before={before.messages}
      period={messages.periodBefore(utcDayText(before.from), utcDayText(before.to))}
    />
  )
  return (
    <Stats
      stats={[
        [
          sent,
          <Fragment key="messages">
            {count}
            {change}
          </Fragment>,
        ],
        ...results,
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
