import { DataRow } from '../ui/lists/data-row.tsx'
import { Table } from '../ui/lists/table.tsx'
import type { Host } from './api.ts'
import { HOST_COLUMNS } from './host-columns.tsx'
import { hosts as messages } from './messages.ts'

const SHOWN_COLUMNS = HOST_COLUMNS.filter(({ cell }) => cell !== undefined)

/** A few monitored hosts with their status and availability. */
export function HostTable({ hosts }: { hosts: Host[] }) {
  return (
    <Table caption={messages.caption} quiet columns={messages.columns}>
      {hosts.map((host) => (
        <DataRow key={host.id} row={host} columns={SHOWN_COLUMNS} selection={null} />
      ))}
    </Table>
  )
}
