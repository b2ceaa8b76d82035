import { Link } from '@tanstack/react-router'
import { Ago } from '../ui/text/ago.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import type { Host } from './api.ts'
import { availabilityText, describeAnswers, hosts as messages, hostState } from './messages.ts'

/** Monitored hosts with their status and availability. */
export function HostTable({ hosts }: { hosts: Host[] }) {
  return (
    <Table caption={messages.caption} quiet columns={messages.columns}>
      {hosts.map((host) => (
        <HostRow key={host.id} host={host} />
      ))}
    </Table>
  )
}

function HostRow({ host }: { host: Host }) {
  const { id, label, lastCheckAt, availability } = host
  const { tone, word } = hostState(host)
  const available = availabilityText(availability)
  return (
    <tr>
      <th scope="row">
        <Link to="/monitoring/$id" params={{ id }}>
          {host.host}
        </Link>
        {label && <small>{label}</small>}
      </th>
      <td>
        <Status tone={tone}>{word}</Status>
        <small>{describeAnswers(host)}</small>
      </td>
      <td>{available ? messages.clean(available) : <Muted>{messages.noAvailability}</Muted>}</td>
      <td>
        <Muted>{lastCheckAt ? <Ago at={lastCheckAt} /> : messages.notChecked}</Muted>
      </td>
    </tr>
  )
}
