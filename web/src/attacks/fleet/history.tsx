import { AddressLink } from '../../addresses/address-link.tsx'
import { useQuery } from '@tanstack/react-query'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { historyQuery, type FleetChange } from './api.ts'
import { history as messages } from './messages.ts'

/** The last changes of the list, with their causes. */
export function History() {
  const { data, error } = useQuery(historyQuery)
  return (
    <Section title={messages.title}>
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data?.length === 0 && <Muted>{messages.empty}</Muted>}
      {data && data.length > 0 && (
        <Table quiet caption={messages.title} columns={messages.columns}>
          {data.map((change) => (
            <tr key={change.number}>
              <td>
                <AddressLink address={change.address} />
              </td>
              <td>{messages.kinds[change.kind]}</td>
              <td>{causeOf(change)}</td>
              <td>
                <Ago at={change.at} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}

function causeOf({ cause }: FleetChange): string {
  switch (cause.by) {
    case 'report':
      return messages.report(cause.token ?? '', cause.service ?? '', cause.count ?? 1)
    case 'member':
      return messages.member(cause.member ?? '', cause.reason ?? '')
    case 'allowlist':
      return messages.allowlist(cause.network ?? '')
    case 'withdrawal':
      return messages.withdrawal(cause.token ?? '')
    case 'protection':
      return messages.protection(cause.reason ?? '')
    default:
      return messages.time
  }
}
