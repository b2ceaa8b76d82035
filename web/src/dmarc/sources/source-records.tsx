import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Choice } from '../../ui/forms/choice.tsx'
import { FilterField } from '../../ui/forms/filter-field.tsx'
import { Row, Section, Muted } from '../../ui/layout/page.tsx'
import { PaginationLinks } from '../../ui/navigation/pagination.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { counted } from '../../ui/text/format.ts'
import { sourceRecordsQuery } from '../api.ts'
import { PeriodText } from '../reports/period.tsx'
import { records as messages, shared } from '../messages.ts'
import type { Period, SourceFilter } from '../search.ts'
import { RecordTable } from '../reports/record-table.tsx'

const RESULTS = [
  { value: 'all', name: shared.allResults },
  { value: 'pass', name: shared.passed },
  { value: 'fail', name: shared.failed },
] as const

type SourceRecordsProps = {
  id: string
  address: string
  period: Period
  filter: SourceFilter
  onFilter: (changed: SourceFilter) => void
}

/** The records of a source in all reports, newest first. */
export function SourceRecords({ id, address, period, filter, onFilter }: SourceRecordsProps) {
  const query = sourceRecordsQuery(id, address, period, filter)
  const { data, error } = useQuery({ ...query, placeholderData: keepPreviousData })
  return (
    <Section
      title={messages.title}
      aside={data && <Muted>{counted(data.pagination.total, shared.record)}</Muted>}
    >
      <Row>
        <FilterField
          label={shared.reporterFilter}
          value={filter.orgName ?? ''}
          onFilter={(text) => onFilter({ orgName: text || undefined })}
        />
        <Choice
          size="normal"
          label={shared.result}
          choices={[...RESULTS]}
          value={filter.result ?? 'all'}
          onChange={(value) => onFilter({ result: value === 'all' ? undefined : value })}
        />
      </Row>
      <LoadingOrError there={data} error={error} lines={5}>
        {messages.loading}
      </LoadingOrError>
      {data?.records.length === 0 && <Muted>{shared.noMatches}</Muted>}
      {data && data.records.length > 0 && (
        <div>
          <RecordTable
            records={data.records}
            column={shared.reporter}
            lead={({ count, report }) => (
              <>
                <Link to="/dmarc/$id/reports/$reportId" params={{ id, reportId: report.id }}>
                  {report.orgName || shared.unnamedReporter}
                </Link>
                <small>
                  {counted(count, shared.message)}, <PeriodText {...report.dateRange} />
                </small>
              </>
            )}
          />
          <PaginationLinks {...data.pagination} onGo={(page) => onFilter({ page })} />
        </div>
      )}
    </Section>
  )
}
