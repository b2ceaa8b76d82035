import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { recordsQuery, reportQuery, type Report } from '../dmarc/api.ts'
import { PeriodText } from '../dmarc/reports/period.tsx'
import { RecordTable } from '../dmarc/reports/record-table.tsx'
import { daysParameterSince } from '../dmarc/search.ts'
import { describeReport, describeVia } from '../dmarc/words.ts'
import { ExactTime } from '../ui/text/ago.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section, Muted } from '../ui/layout/page.tsx'
import { Pagination } from '../ui/navigation/pagination.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'

export function Screen() {
  const { id, reportId } = useParams({ from: '/own/dmarc/$id/reports/$reportId' })
  const { data: report, error } = useQuery(reportQuery(id, reportId))
  return (
    <Page
      wide
      title={report ? `Report of ${report.orgName || 'somebody'}` : 'Report'}
      above={
        <BackLink to="/dmarc/$id/reports" params={{ id }}>
          Reports
        </BackLink>
      }
    >
      <LoadingOrError there={report} error={error} lines={6}>
        Fetching the report …
      </LoadingOrError>
      {report && <Known report={report} />}
    </Page>
  )
}

function Known({ report }: { report: Report }) {
  const { tone, sentence } = describeReport(report)
  const remarks = [...report.errors.map((error) => `The reporter says: ${error}`), ...report.warnings]
  return (
    <>
      <div role="status">
        <Notice tone={tone}>
          <strong>{sentence}</strong>
          {remarks.map((remark) => (
            <p key={remark}>{remark}</p>
          ))}
        </Notice>
      </div>
      <About report={report} />
      <Records report={report} />
    </>
  )
}

function About({ report }: { report: Report }) {
  const { dateRange, policyPublished, email, extraContactInfo, reportId, generator, receivedAt, via } = report
  return (
    <Facts
      facts={[
        ['About', <PeriodText key="about" {...dateRange} />],
        ['Policy found', policyText(policyPublished)],
        ['Reporter', [report.orgName, email, extraContactInfo].filter(Boolean).join(', ')],
        ['Proof', proofText(report)],
        ['Its number', reportId],
        ['Made by', generator],
        [
          'Received',
          <span key="received">
            <ExactTime at={receivedAt} />
            {via && `, ${describeVia(via)}`}
          </span>,
        ],
      ]}
    />
  )
}

function policyText({ domain, p, sp, np, adkim, aspf, pct, testing }: Report['policyPublished']): string {
  const tags = { p, sp, np, adkim, aspf, pct, t: testing }
  const said = Object.entries(tags).filter(([, value]) => value !== null)
  return `${domain}: ${said.map(([tag, value]) => `${tag}=${value}`).join('; ')}`
}

/** What the mail that brought it could prove: anybody can mail a forged report. */
function proofText({ reporterVerified, authentication }: Report): string | null {
  if (reporterVerified === null) return null
  const from = authentication?.from ?? 'an unknown sender'
  return reporterVerified
    ? `The mail is really from ${from}.`
    : `The mail says it is from ${from}, but did not prove it. Anybody can mail a forged report.`
}

function Records({ report }: { report: Report }) {
  const { page = 1 } = useSearch({ from: '/own/dmarc/$id/reports/$reportId' })
  const { id } = useParams({ from: '/own/dmarc/$id/reports/$reportId' })
  const navigate = useNavigate({ from: '/dmarc/$id/reports/$reportId' })
  const query = recordsQuery(id, report.id, page)
  const { data, error } = useQuery({ ...query, enabled: page > 1, placeholderData: keepPreviousData })
  const records = page > 1 ? data?.records : report.records
  const totalPages = Math.ceil(report.recordCount / Math.max(1, report.records.length))
  return (
    <Section title="What was seen">
      <LoadingOrError there={records} error={error} lines={6}>
        Fetching the records …
      </LoadingOrError>
      {records?.length === 0 && <Muted>Nothing: the report has no records.</Muted>}
      {records && records.length > 0 && (
        <RecordTable
          records={records}
          column="Source"
          lead={({ sourceIp, count }) => (
            <>
              <Link
                to="/dmarc/$id/sources/$address"
                params={{ id, address: sourceIp }}
                search={{ days: daysParameterSince(report.dateRange.begin) }}
              >
                {sourceIp}
              </Link>
              <small>{counted(count, 'message')}</small>
            </>
          )}
        />
      )}
      <Pagination page={page} totalPages={totalPages} onGo={(to) => void navigate({ search: { page: to } })} />
    </Section>
  )
}
