import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { reportsQuery, type Report, type ReportFilter } from '../dmarc/api.ts'
import { DomainPage } from '../dmarc/domains/domain-page.tsx'
import { domainPage, reports as messages, shared } from '../dmarc/messages.ts'
import { PeriodText } from '../dmarc/reports/period.tsx'
import { Button } from '../ui/actions/button.tsx'
import { utcDayText } from '../ui/text/dates.ts'
import { Ago } from '../ui/text/ago.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { Row, Muted } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/dmarc/$id/reports' })
  const filter = useSearch({ from: '/own/dmarc/$id/reports' })
  const navigate = useNavigate({ from: '/dmarc/$id/reports' })
  const { data, error } = useQuery({
    ...reportsQuery(id, filter),
    placeholderData: keepPreviousData,
  })
  const go = (changed: ReportFilter) =>
    void navigate({
      search: (before) => ({ ...before, page: undefined, ...changed }),
      replace: true,
    })
  return (
    <DomainPage id={id} part={domainPage.reports}>
      <div>
        <Row>
          <FilterField
            label={shared.reporterFilter}
            value={filter.orgName ?? ''}
            onFilter={(text) => go({ orgName: text || undefined })}
          />
          <Choice
            size="normal"
            label={shared.result}
            choices={[
              { value: 'all', name: shared.allResults },
              { value: 'fail', name: messages.withFailures },
            ]}
            value={filter.result ?? 'all'}
            onChange={(value) => go({ result: value === 'fail' ? value : undefined })}
          />
          {filter.day && (
            <Button size="small" onClick={() => go({ day: undefined })}>
              {messages.allDays(utcDayText(filter.day))}
            </Button>
          )}
          {data && <Muted>{counted(data.pagination.total, shared.report)}</Muted>}
        </Row>
      </div>
      <LoadingOrError there={data} error={error} lines={5} shape="table">
        {shared.loadingReports}
      </LoadingOrError>
      {data?.reports.length === 0 && <Muted>{shared.noMatches}</Muted>}
      {data && data.reports.length > 0 && (
        <div>
          <ReportTable id={id} reports={data.reports} />
          <PaginationLinks {...data.pagination} onGo={(page) => go({ page })} />
        </div>
      )}
    </DomainPage>
  )
}

function ReportTable({ id, reports }: { id: string; reports: Report[] }) {
  return (
    <Table
      caption={shared.reports}
      quiet
      columns={[shared.reporter, shared.period, shared.messages, shared.result, shared.received]}
    >
      {reports.map((report) => (
        <ReportRow key={report.id} id={id} report={report} />
      ))}
    </Table>
  )
}

function ReportRow({ id, report }: { id: string; report: Report }) {
  const { id: reportId, orgName, dateRange, totals, receivedAt } = report
  const { messages: count, fail, outside } = totals
  return (
    <tr>
      <th scope="row">
        <Link to="/dmarc/$id/reports/$reportId" params={{ id, reportId }}>
          {orgName || shared.unnamedReporter}
        </Link>
      </th>
      <td>
        <PeriodText {...dateRange} />
      </td>
      <td>
        {counted(count, shared.message)}
        {outside > 0 && <small>{messages.otherDomains(outside)}</small>}
      </td>
      <td>
        {fail > 0 ? (
          <Status tone="warn">{shared.failedCount(fail)}</Status>
        ) : (
          <Status tone="good">{messages.allPassed}</Status>
        )}
      </td>
      <td data-label={shared.received}>
        <Muted>
          <Ago at={receivedAt} />
        </Muted>
      </td>
    </tr>
  )
}
