import { Link } from '@tanstack/react-router'
import { Ago } from '../ui/text/ago.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import type { Host } from './api.ts'
import { describeAnswers, availabilityText, hostState } from './messages.ts'

/** Hosts that are watched: how each stands, and how it fared. */
export function HostTable({ hosts }: { hosts: Host[] }) {
  return (
    <Table caption="Your hosts" quiet columns={['Host', 'State', 'Over 30 days', 'Looked at']}>
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
      <td>{available ? `Off the lists ${available} of the time` : <Muted>not known yet</Muted>}</td>
      <td>
        <Muted>{lastCheckAt ? <Ago at={lastCheckAt} /> : 'not yet'}</Muted>
      </td>
    </tr>
  )
}
