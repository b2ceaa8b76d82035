import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { dmarc, reportsQuery } from '../dmarc/api.ts'
import type { ReportFilter } from '../dmarc/search.ts'
import { DomainPage } from '../dmarc/domains/domain-page.tsx'
import { domainPage, reports as messages, shared } from '../dmarc/messages.ts'
import { REPORT_SORTS, ReportTable } from '../dmarc/reports/report-table.tsx'
import { orderOf } from '../search.ts'
import { Button } from '../ui/actions/button.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { CSV_PAGE_ROWS } from '../ui/lists/paged.ts'
import { utcDayText } from '../ui/text/dates.ts'

/** Files of many days may be uploaded at once, so that their arrival says nothing. */
const NEWEST_DAY = '-begin'

export function Screen() {
  const { id } = useParams({ from: '/own/dmarc/$id/reports' })
  const { sort, page, ...search } = useSearch({ from: '/own/dmarc/$id/reports' })
  const go = useFilter()
  const filter = { ...search, sort: orderOf(sort, REPORT_SORTS) ?? NEWEST_DAY }
  const { data, error } = useQuery({
    ...reportsQuery(id, { ...filter, page }),
    placeholderData: keepPreviousData,
  })
  return (
    <DomainPage id={id} part={domainPage.reports}>
      <LoadingOrError there={data} error={error} lines={5} shape="table">
        {shared.loadingReports}
      </LoadingOrError>
      {data && (
        <ReportTable
          id={id}
          reports={data.reports}
          filters={<Filters />}
          paged={{
            ...data.pagination,
            onGo: (to) => go({ page: to }),
            sorts: REPORT_SORTS,
            loadPage: async (number) =>
              (await dmarc.reports(id, { ...filter, page: number, limit: CSV_PAGE_ROWS })).reports,
          }}
        />
      )}
    </DomainPage>
  )
}

function useFilter() {
  const navigate = useNavigate({ from: '/dmarc/$id/reports' })
  return (changed: Omit<ReportFilter, 'sort'>) =>
    void navigate({
      search: (before) => ({ ...before, page: undefined, ...changed }),
      replace: true,
    })
}

function Filters() {
  const { orgName = '', result, day } = useSearch({ from: '/own/dmarc/$id/reports' })
  const go = useFilter()
  return (
    <>
      <FilterField
        label={shared.reporterFilter}
        value={orgName}
        onFilter={(text) => go({ orgName: text || undefined })}
      />
      <Choice
        size="normal"
        label={shared.result}
        choices={[
          { value: 'all', name: shared.allResults },
          { value: 'fail', name: messages.withFailures },
        ]}
        value={result ?? 'all'}
        onChange={(value) => go({ result: value === 'fail' ? value : undefined })}
      />
      {day && (
        <Button size="small" onClick={() => go({ day: undefined })}>
          {messages.allDays(utcDayText(day))}
        </Button>
      )}
    </>
  )
}
