import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { recordsQuery, reportQuery, type Report } from '../dmarc/api.ts'
import { PeriodText } from '../dmarc/reports/period.tsx'
import { RecordTable } from '../dmarc/reports/record-table.tsx'
import { periodSince } from '../dmarc/search.ts'
import {
  channels,
  describeReport,
  records as recordMessages,
  report as messages,
  shared,
  source as sourceMessages,
} from '../dmarc/messages.ts'
import { ExactTime } from '../ui/text/date-text.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import type { Tone } from '../ui/feedback/status.tsx'
import { Page, Section, Muted } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'

export function Screen() {
  const { id, reportId } = useParams({ from: '/own/dmarc/$id/reports/$reportId' })
  const { data: report, error } = useQuery(reportQuery(id, reportId))
  return (
    <Page
      wide
      rail={
        report ? (
          <Section title={messages.details}>
            <ReportFacts report={report} />
          </Section>
        ) : null
      }
      title={report ? messages.title(report.orgName || messages.unnamed) : messages.untitled}
      above={
        <BackLink to="/dmarc/$id/reports" params={{ id }}>
          {shared.reports}
        </BackLink>
      }
    >
      <LoadingOrError there={report} error={error} lines={6}>
        {messages.loading}
      </LoadingOrError>
      {report && <ReportContent report={report} />}
    </Page>
  )
}

function ReportContent({ report }: { report: Report }) {
  const remarks = [...report.errors.map(messages.reporterError), ...report.warnings]
  return (
    <>
      <div role="status">
        <Notice tone={reportTone(report)}>
          <strong>{describeReport(report)}</strong>
          {remarks.map((remark) => (
            <p key={remark}>{remark}</p>
          ))}
        </Notice>
      </div>
      <Records report={report} />
    </>
  )
}

function reportTone({ totals: { messages: count, fail } }: Report): Tone {
  return count === 0 ? 'info' : fail === 0 ? 'good' : 'warn'
}

function ReportFacts({ report }: { report: Report }) {
  const {
    dateRange,
    policyPublished,
    email,
    extraContactInfo,
    reportId,
    generator,
    receivedAt,
    via,
  } = report
  return (
    <Facts
      facts={[
        [shared.period, <PeriodText key="period" {...dateRange} />],
        [messages.policy, policyText(policyPublished)],
        [shared.reporter, [report.orgName, email, extraContactInfo].filter(Boolean).join(', ')],
        [messages.authenticity, describeAuthenticity(report)],
        [messages.id, reportId],
        [messages.generator, generator],
        [
          shared.received,
          <span key="received">
            <ExactTime at={receivedAt} />
            {via && `, ${channels[via]}`}
          </span>,
        ],
      ]}
    />
  )
}

function policyText({
  domain,
  p,
  sp,
  np,
  adkim,
  aspf,
  pct,
  testing,
}: Report['policyPublished']): string {
  const tags = { p, sp, np, adkim, aspf, pct, t: testing }
  const published = Object.entries(tags).filter(([, value]) => value !== null)
  return `${domain}: ${published.map(([tag, value]) => `${tag}=${value}`).join('; ')}`
}

/** Whether the email that carried the report passed DMARC; anyone can send a forged report. */
function describeAuthenticity({ reporterVerified, authentication }: Report): string | null {
  if (reporterVerified === null) return null
  const from = authentication?.from ?? messages.unknownSender
  return reporterVerified ? messages.authentic(from) : messages.notAuthentic(from)
}

function Records({ report }: { report: Report }) {
  const { page = 1 } = useSearch({ from: '/own/dmarc/$id/reports/$reportId' })
  const { id } = useParams({ from: '/own/dmarc/$id/reports/$reportId' })
  const navigate = useNavigate({ from: '/dmarc/$id/reports/$reportId' })
  const query = recordsQuery(id, report.id, page)
  const { data, error } = useQuery({
    ...query,
    enabled: page > 1,
    placeholderData: keepPreviousData,
  })
  const records = page > 1 ? data?.records : report.records
  const totalPages = Math.ceil(report.recordCount / Math.max(1, report.records.length))
  return (
    <Section title={recordMessages.title}>
      <LoadingOrError there={records} error={error} lines={6}>
        {recordMessages.loading}
      </LoadingOrError>
      {records?.length === 0 && <Muted>{recordMessages.empty}</Muted>}
      {records && records.length > 0 && (
        <RecordTable
          records={records}
          column={shared.source}
          lead={({ sourceIp, count }) => (
            <>
              <Link
                to="/dmarc/$id/sources/$address"
                params={{ id, address: sourceIp }}
                search={periodSince(report.dateRange.begin)}
              >
                {sourceIp}
              </Link>
              <small>
                {counted(count, shared.message)} ·{' '}
                <Link to="/addresses/$ip" params={{ ip: sourceIp }}>
                  {sourceMessages.allAbout}
                </Link>
              </small>
            </>
          )}
        />
      )}
      <PaginationLinks
        page={page}
        totalPages={totalPages}
        onGo={(to) => void navigate({ search: { page: to } })}
      />
    </Section>
  )
}
