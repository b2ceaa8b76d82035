import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Status } from '../../ui/feedback/status.tsx'
import { agoCell } from '../../ui/lists/ago-cell.tsx'
import type { Column } from '../../ui/lists/column.ts'
import { DataTable } from '../../ui/lists/data-table.tsx'
import type { Paged } from '../../ui/lists/paged.ts'
import { counted } from '../../ui/text/format.ts'
import type { Report } from '../api.ts'
import { reports as messages, shared } from '../messages.ts'
import { PeriodText } from './period.tsx'

/** The columns that the API sorts by. */
export const REPORT_SORTS = ['orgName', 'begin', 'messages', 'fail', 'receivedAt'] as const

type ReportTableProps = {
  /** ID of the domain. */
  id: string
  reports: Report[]
  filters: ReactNode
  paged: Paged<Report>
}

/** The aggregate reports of a domain. */
export function ReportTable({ id, reports, filters, paged }: ReportTableProps) {
  return (
    <DataTable
      caption={shared.reports}
      columns={columnsOf(id)}
      rows={reports}
      rowId={(report) => report.id}
      nameOf={nameOf}
      count={(rows) => counted(rows, shared.report)}
      filters={filters}
      csvName="dmarc-reports"
      paged={paged}
    />
  )
}

const nameOf = ({ orgName }: Report) => orgName || shared.unnamedReporter

function columnsOf(id: string): Column<Report>[] {
  return [
    {
      key: 'orgName',
      title: shared.reporter,
      cell: (report) => (
        <Link to="/dmarc/$id/reports/$reportId" params={{ id, reportId: report.id }}>
          {nameOf(report)}
        </Link>
      ),
      csv: nameOf,
    },
    { key: 'reportId', title: messages.reportId, csv: ({ reportId }) => reportId },
    {
      key: 'begin',
      title: shared.period,
      cell: ({ dateRange }) => <PeriodText {...dateRange} />,
      descendsFirst: true,
      csv: ({ dateRange }) => dateRange.begin,
    },
    { key: 'end', title: messages.end, csv: ({ dateRange }) => dateRange.end },
    {
      key: 'messages',
      title: shared.messages,
      cell: ({ totals: { messages: count, outside } }) => (
        <>
          {counted(count, shared.message)}
          {outside > 0 && <small>{messages.otherDomains(outside)}</small>}
        </>
      ),
      descendsFirst: true,
      csv: ({ totals }) => totals.messages,
    },
    {
      key: 'fail',
      title: shared.result,
      cell: ({ totals: { fail } }) =>
        fail > 0 ? (
          <Status tone="warn">{shared.failedCount(fail)}</Status>
        ) : (
          <Status tone="good">{messages.allPassed}</Status>
        ),
      descendsFirst: true,
    },
    { key: 'failed', title: shared.failed, csv: ({ totals }) => totals.fail },
    {
      key: 'receivedAt',
      title: shared.received,
      ...agoCell('receivedAt'),
      descendsFirst: true,
      labelled: true,
    },
  ]
}
