import { LABELS_COLUMN, LabelLine } from '../labels/labels-column.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Status } from '../ui/feedback/status.tsx'
import { Muted } from '../ui/layout/page.tsx'
import type { Column } from '../ui/lists/column.ts'
import { DataTable } from '../ui/lists/data-table.tsx'
import type { RowAction } from '../ui/lists/row-action.ts'
import { Ago } from '../ui/text/ago.tsx'
import { counted, numberText } from '../ui/text/format.ts'
import { useAccess } from '../workspaces/roles.ts'
import { domains as requests, domainsQuery, type DomainSummary } from './api.ts'
import { list as messages, stateNames } from './messages.ts'
import { LINE_TONES } from './tones.ts'

/** Domains as a table, to sort, filter and act on several of them. */
export function DomainTable({
  domains,
  filters,
}: {
  domains: DomainSummary[]
  filters: ReactNode
}) {
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
    />
  )
}

function useDomainActions(): RowAction<DomainSummary>[] {
  const access = useAccess()
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: [domainsQuery.queryKey[0]] })
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

const STATE_ORDER: DomainSummary['state'][] = ['bad', 'warning', 'unknown', 'good']

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
    sort: ({ domain }) => domain,
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
    sort: ({ state }) => STATE_ORDER.indexOf(state),
    csv: ({ state }) => stateNames[state],
  },
  LABELS_COLUMN,
  { key: 'result', title: messages.columns.result, csv: ({ sentence }) => sentence },
  {
    key: 'watched',
    title: messages.columns.watched,
    cell: ({ isWatched }) => (isWatched ? messages.watched : <Muted>{messages.notWatched}</Muted>),
    sort: ({ isWatched }) => Number(isWatched),
    descendsFirst: true,
    csv: ({ isWatched }) => (isWatched ? messages.watched : messages.notWatched),
  },
  {
    key: 'hosts',
    title: messages.columns.hosts,
    labelled: true,
    cell: ({ hosts }) => numberText(hosts.length),
    sort: ({ hosts }) => hosts.length,
    descendsFirst: true,
    csv: ({ hosts }) => hosts.length,
  },
  {
    key: 'checked',
    title: messages.lastChecked,
    labelled: true,
    cell: ({ checkedAt }) => <Muted>{checkedAt ? <Ago at={checkedAt} /> : messages.never}</Muted>,
    sort: ({ checkedAt }) => checkedAt,
    descendsFirst: true,
    csv: ({ checkedAt }) => checkedAt,
  },
]
