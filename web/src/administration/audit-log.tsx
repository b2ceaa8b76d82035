import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { Muted, Row } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Ago } from '../ui/text/ago.tsx'
import type { AuditEntryRow, AuditFilter, AuditLogPage } from './api.ts'
import { audit as messages, describeDetails } from './messages.ts'

type AuditLogProps = {
  caption: string
  /** The text of a log without entries. */
  empty: string
  filter: AuditFilter
  data: AuditLogPage | undefined
  error: Error | null
  onGo: (change: AuditFilter) => void
}

/** A page of an audit log, of the service or of a workspace, with its filter. */
export function AuditLog({ caption, empty, filter, data, error, onGo }: AuditLogProps) {
  return (
    <>
      <Row>
        <FilterField
          label={messages.filter}
          value={filter.q ?? ''}
          onFilter={(text) => onGo({ q: text || undefined })}
        />
        {data && <Muted>{messages.entries(data.pagination.total)}</Muted>}
      </Row>
      <LoadingOrError there={data} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {data?.entries.length === 0 && <Muted>{filter.q ? messages.noMatches : empty}</Muted>}
      {data && data.entries.length > 0 && (
        <div>
          <Table caption={caption} quiet columns={[...messages.columns]}>
            {data.entries.map((entry) => (
              <EntryRow key={entry.id} entry={entry} />
            ))}
          </Table>
          <PaginationLinks {...data.pagination} onGo={(page) => onGo({ page })} />
        </div>
      )}
    </>
  )
}

function EntryRow({ entry }: { entry: AuditEntryRow }) {
  const { at, actorEmail, token, what, route, details } = entry
  return (
    <tr>
      <th scope="row">
        {what}
        <small>{route}</small>
      </th>
      <td>
        {describeDetails(details).map(([name, value]) => (
          <div key={name}>{messages.detail(name, value)}</div>
        ))}
      </td>
      <td>
        {messages.by(actorEmail)}
        {token && <small>{messages.withToken(token.label)}</small>}
      </td>
      <td>
        <Muted>
          <Ago at={at} />
        </Muted>
      </td>
    </tr>
  )
}
