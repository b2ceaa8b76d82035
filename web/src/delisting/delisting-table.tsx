import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { agoCell } from '../ui/lists/ago-cell.tsx'
import type { Column } from '../ui/lists/column.ts'
import { DataTable } from '../ui/lists/data-table.tsx'
import type { Paged } from '../ui/lists/paged.ts'
import type { Delisting } from './api.ts'
import { describeStatus, stepsNeedingAction } from './delisting-status.ts'
import { list } from './messages.ts'

/** The columns that the API sorts by. */
export const DELISTING_SORTS = ['ip', 'stepsCompleted', 'status', 'createdAt'] as const

type DelistingTableProps = { delistings: Delisting[]; filters: ReactNode; paged: Paged<Delisting> }

/** Delistings with the number of blocklists that removed the address. */
export function DelistingTable({ delistings, filters, paged }: DelistingTableProps) {
  return (
    <DataTable
      caption={list.caption}
      columns={COLUMNS}
      rows={delistings}
      rowId={({ id }) => id}
      nameOf={({ ip }) => ip}
      count={list.total}
      filters={filters}
      csvName="delistings"
      paged={paged}
    />
  )
}

const [address, blocklists, status, started] = list.columns

const COLUMNS: Column<Delisting>[] = [
  {
    key: 'ip',
    title: address,
    cell: ({ id, ip, relistedAfter }) => (
      <>
        <Link to="/delisting/$id" params={{ id }}>
          {ip}
        </Link>
        {relistedAfter && <small>{list.relisted}</small>}
      </>
    ),
    sort: ({ ip }) => ip,
    csv: ({ ip }) => ip,
  },
  {
    key: 'stepsCompleted',
    title: blocklists,
    cell: (delisting) => (
      <>
        <ProgressBar
          label={list.progress(delisting.ip)}
          done={delisting.stepsCompleted}
          total={delisting.totalListings}
          tone={barTone(delisting)}
        />
        <small>{list.delistedFrom(delisting.stepsCompleted, delisting.totalListings)}</small>
      </>
    ),
    sort: ({ stepsCompleted, totalListings }) => stepsCompleted - totalListings,
  },
  { key: 'removed', title: list.removed, csv: ({ stepsCompleted }) => stepsCompleted },
  { key: 'listings', title: list.listings, csv: ({ totalListings }) => totalListings },
  {
    key: 'status',
    title: status,
    cell: (delisting) => {
      const { tone, word } = describeStatus(delisting)
      return <Status tone={tone}>{word}</Status>
    },
    sort: (delisting) => describeStatus(delisting).word,
    csv: (delisting) => describeStatus(delisting).word,
  },
  {
    key: 'createdAt',
    title: started,
    ...agoCell('createdAt'),
    sort: ({ createdAt }) => createdAt,
    descendsFirst: true,
  },
]

function barTone(delisting: Delisting) {
  if (delisting.status === 'completed') return 'good'
  return stepsNeedingAction(delisting).length > 0 ? 'warn' : undefined
}
