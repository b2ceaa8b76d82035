import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { deleteAllWithUndo } from '../deletions.ts'
import { DataTable } from '../ui/lists/data-table.tsx'
import type { Paged } from '../ui/lists/paged.ts'
import type { RowAction } from '../ui/lists/row-action.ts'
import { useAccess } from '../workspaces/roles.ts'
import { HOSTS_KEY, monitoring, type Host } from './api.ts'
import { HOST_COLUMNS } from './host-columns.tsx'
import { hosts as messages } from './messages.ts'

type HostDataTableProps = { hosts: Host[]; filters: ReactNode; paged: Paged<Host> }

/** A page of monitored hosts with what can be done with several of them. */
export function HostDataTable({ hosts, filters, paged }: HostDataTableProps) {
  return (
    <DataTable
      caption={messages.caption}
      columns={HOST_COLUMNS}
      rows={hosts}
      rowId={({ id }) => id}
      nameOf={({ host }) => host}
      count={messages.count}
      filterLabel={messages.filter}
      filters={filters}
      actions={useHostActions()}
      csvName="monitored-hosts"
      paged={paged}
    />
  )
}

function useHostActions(): RowAction<Host>[] {
  const access = useAccess()
  const queries = useQueryClient()
  return [
    {
      ...access,
      label: messages.checkNow,
      send: ({ id }) => monitoring.check(id),
      onDone: () => queries.invalidateQueries({ queryKey: HOSTS_KEY }),
      failed: messages.checkFailed,
    },
    {
      ...access,
      label: messages.stop,
      kind: 'quiet',
      apply: (rows) =>
        deleteAllWithUndo(queries, {
          rows,
          text: messages.removing(rows.map(({ host }) => host)),
          list: HOSTS_KEY,
          send: ({ id }) => monitoring.remove(id),
          nameOf: ({ host }) => host,
        }),
    },
  ]
}
