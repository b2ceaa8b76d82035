import { AddressLink } from '../../addresses/address-link.tsx'
import { useQuery } from '@tanstack/react-query'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { fleetServersQuery, type FleetServer } from './api.ts'
import { servers as messages } from './messages.ts'

/** The servers that report to the list or follow it. */
export function FleetServers() {
  const { data, error } = useQuery(fleetServersQuery)
  return (
    <Section title={messages.title}>
      <LoadingOrError there={data} error={error} lines={2}>
        {messages.loading}
      </LoadingOrError>
      {data?.length === 0 && <Muted>{messages.empty}</Muted>}
      {data && data.length > 0 && (
        <Table quiet caption={messages.title} columns={messages.columns}>
          {data.map((server) => (
            <ServerRow key={server.address} server={server} />
          ))}
        </Table>
      )}
    </Section>
  )
}

function ServerRow({ server }: { server: FleetServer }) {
  const { address, label, client, reportedAt, followedAt } = server
  return (
    <tr>
      <td>
        <AddressLink address={address} /> {client && <small>{client}</small>}
      </td>
      <td>{label ?? messages.revoked}</td>
      <td>{reportedAt ? <Ago at={reportedAt} /> : messages.never}</td>
      <td>{followedAt ? <Ago at={followedAt} /> : messages.never}</td>
    </tr>
  )
}
