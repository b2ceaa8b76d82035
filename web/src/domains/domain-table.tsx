import { LABELS_COLUMN, LabelLine } from '../labels/labels-column.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Status } from '../ui/feedback/status.tsx'
import { Muted } from '../ui/layout/page.tsx'
import type { Column } from '../ui/lists/column.ts'
import { DataTable } from '../ui/lists/data-table.tsx'
import type { Paged } from '../ui/lists/paged.ts'
import type { RowAction } from '../ui/lists/row-action.ts'
import { Ago } from '../ui/text/ago.tsx'
import { counted, numberText } from '../ui/text/format.ts'
import { useAccess } from '../workspaces/roles.ts'
import { domains as requests, DOMAINS_KEY, type DomainSummary } from './api.ts'
import { list as messages, stateNames } from './messages.ts'
import { LINE_TONES } from './tones.ts'

/** The columns that the API sorts by. */
export const DOMAIN_SORTS = ['domain', 'state', 'watched', 'hosts', 'checkedAt'] as const

type DomainTableProps = {
  domains: DomainSummary[]
  filters: ReactNode
  paged: Paged<DomainSummary>
}

/** A page of domains with what can be done with several of them. */
export function DomainTable({ domains, filters, paged }: DomainTableProps) {
  return (
    <DataTable
      caption={messages.title}
      columns={COLUMNS}
      rows={domains}
      rowId={({ domain }) => domain}
      nameOf={({ domain }) => domain}
      count={(rows) => counted(rows, 'domain')}
      filterLabel={messages.filter}
      filters={filters}
      actions={useDomainActions()}
      csvName="domains"
      paged={paged}
    />
  )
}

function useDomainActions(): RowAction<DomainSummary>[] {
  const access = useAccess()
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: DOMAINS_KEY })
  return [
    {
      ...access,
      label: messages.watch,
      appliesTo: ({ isWatched }) => !isWatched,
      send: ({ domain }) => requests.watch(domain),
      onDone: refresh,
    },
    {
      ...access,
      label: messages.unwatch,
      kind: 'quiet',
      appliesTo: ({ isWatched }) => isWatched,
      confirm: { title: messages.unwatchTitle, text: messages.unwatchText },
      send: ({ domain }) => requests.unwatch(domain),
      onDone: refresh,
    },
  ]
}

const COLUMNS: Column<DomainSummary>[] = [
  {
    key: 'domain',
    title: messages.columns.domain,
    cell: ({ domain, labels }) => (
      <>
        <Link to="/domains/$domain" params={{ domain }}>
          {domain}
        </Link>
        <LabelLine labels={labels} />
      </>
    ),
    csv: ({ domain }) => domain,
  },
  {
    key: 'state',
    title: messages.columns.state,
    cell: ({ state, sentence }) => (
      <>
        <Status tone={LINE_TONES[state]}>{stateNames[state]}</Status>
        {sentence !== null && <small>{sentence}</small>}
      </>
    ),
    csv: ({ state }) => stateNames[state],
  },
  LABELS_COLUMN,
  { key: 'result', title: messages.columns.result, csv: ({ sentence }) => sentence },
  {
    key: 'watched',
    title: messages.columns.watched,
    cell: ({ isWatched }) => (isWatched ? messages.watched : <Muted>{messages.notWatched}</Muted>),
    descendsFirst: true,
    csv: ({ isWatched }) => (isWatched ? messages.watched : messages.notWatched),
  },
  {
    key: 'hosts',
    title: messages.columns.hosts,
    labelled: true,
    cell: ({ hostCount }) => numberText(hostCount),
    descendsFirst: true,
    csv: ({ hostCount }) => hostCount,
  },
  {
    key: 'checkedAt',
    title: messages.lastChecked,
    labelled: true,
    cell: ({ checkedAt }) => <Muted>{checkedAt ? <Ago at={checkedAt} /> : messages.never}</Muted>,
    descendsFirst: true,
    csv: ({ checkedAt }) => checkedAt,
  },
]
