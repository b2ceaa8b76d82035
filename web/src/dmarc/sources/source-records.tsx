import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Choice } from '../../ui/forms/choice.tsx'
import { FilterField } from '../../ui/forms/filter-field.tsx'
import { Row, Section, Muted } from '../../ui/layout/page.tsx'
import { Pagination } from '../../ui/navigation/pagination.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { counted } from '../../ui/text/format.ts'
import { sourceRecordsQuery, type SourceFilter } from '../api.ts'
import { PeriodText } from '../reports/period.tsx'
import { RecordTable } from '../reports/record-table.tsx'

const RESULTS = [
  { value: 'all', name: 'Every result' },
  { value: 'pass', name: 'Passed' },
  { value: 'fail', name: 'Failed' },
] as const

type SourceRecordsProps = {
  id: string
  address: string
  days: number
  filter: SourceFilter
  onFilter: (changed: SourceFilter) => void
}

/** What the reports say of a source, record by record. */
export function SourceRecords({ id, address, days, filter, onFilter }: SourceRecordsProps) {
  const query = sourceRecordsQuery(id, address, days, filter)
  const { data, error } = useQuery({ ...query, placeholderData: keepPreviousData })
  return (
    <Section title="What was seen" aside={data && <Muted>{counted(data.pagination.total, 'record')}</Muted>}>
      <Row>
        <FilterField
          label="Whole name of a reporter"
          value={filter.orgName ?? ''}
          onFilter={(text) => onFilter({ orgName: text || undefined })}
        />
        <Choice
          size="normal"
          label="Result"
          choices={[...RESULTS]}
          value={filter.result ?? 'all'}
          onChange={(value) => onFilter({ result: value === 'all' ? undefined : value })}
        />
      </Row>
      <LoadingOrError there={data} error={error} lines={5}>
        Looking through the reports …
      </LoadingOrError>
      {data?.records.length === 0 && <Muted>There is none like that.</Muted>}
      {data && data.records.length > 0 && (
        <div>
          <RecordTable
            records={data.records}
            column="Reporter"
            lead={({ count, report }) => (
              <>
                <Link to="/dmarc/$id/reports/$reportId" params={{ id, reportId: report.id }}>
                  {report.orgName || 'Without a name'}
                </Link>
                <small>
                  {counted(count, 'message')}, <PeriodText {...report.dateRange} />
                </small>
              </>
            )}
          />
          <Pagination {...data.pagination} onGo={(page) => onFilter({ page })} />
        </div>
      )}
    </Section>
  )
}
