import { Link } from '@tanstack/react-router'
import type { Host } from '../monitoring/api.ts'
import { availabilityText, standing } from '../monitoring/words.ts'
import { Ago } from '../ui/ago.tsx'
import { Section, Soft } from '../ui/page.tsx'
import { Status } from '../ui/status.tsx'
import { Table } from '../ui/table.tsx'
import { counted } from '../ui/words.ts'

/** Rows at most: the others are a press away. */
const SOME = 8
const ORDER: Host['status'][] = ['listed', 'unknown', 'pending', 'clean']

/** The hosts that are watched, those that are not well first. */
export function Watched({ hosts }: { hosts: Host[] }) {
  if (hosts.length === 0) return null
  const shown = hosts.toSorted((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status)).slice(0, SOME)
  return (
    <Section
      title="Your hosts"
      aside={<Link to="/monitoring">{shown.length < hosts.length ? `All ${hosts.length}` : 'Monitoring'}</Link>}
    >
      <Table caption="Your hosts" quiet columns={['Host', 'State', 'Over 30 days', 'Looked at']}>
        {shown.map((host) => (
          <HostRow key={host.id} host={host} />
        ))}
      </Table>
    </Section>
  )
}

function HostRow({ host: { id, host, label, status, availability, lastCheckAt, listedCount } }: { host: Host }) {
  const { tone, word } = standing({ status })
  return (
    <tr>
      <th scope="row">
        <Link to="/monitoring/$id" params={{ id }}>
          {host}
        </Link>
        {label && <small>{label}</small>}
      </th>
      <td>
        <Status tone={tone}>{listedCount > 0 ? `${word} on ${counted(listedCount, 'list')}` : word}</Status>
      </td>
      <td>
        <Soft>{availabilityText(availability)}</Soft>
      </td>
      <td>
        <Soft>{lastCheckAt ? <Ago at={lastCheckAt} /> : 'not yet'}</Soft>
      </td>
    </tr>
  )
}
