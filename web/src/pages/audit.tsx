import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { AdministrationNavigation } from '../administration/administration-navigation.tsx'
import { auditQuery, type AuditEntryRow, type AuditFilter } from '../administration/api.ts'
import { audit as messages, describeDetails } from '../administration/messages.ts'
import { Ago } from '../ui/text/ago.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { Page, Row, Muted } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'

/** Administrator actions, with user, time and details. */
export function Screen() {
  const filter = useSearch({ from: '/own/administration/audit' })
  const navigate = useNavigate({ from: '/administration/audit' })
  const { data, error } = useQuery({ ...auditQuery(filter), placeholderData: keepPreviousData })
  const go = (changed: AuditFilter) =>
    void navigate({
      search: (before) => ({ ...before, page: undefined, ...changed }),
      replace: true,
    })
  return (
    <Page wide title={messages.title}>
      <AdministrationNavigation />
      <Muted>{messages.lead}</Muted>
      <Row>
        <FilterField
          label={messages.filter}
          value={filter.q ?? ''}
          onFilter={(text) => go({ q: text || undefined })}
        />
        {data && <Muted>{messages.entries(data.pagination.total)}</Muted>}
      </Row>
      <LoadingOrError there={data} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {data?.entries.length === 0 && (
        <Muted>{filter.q ? messages.noMatches : messages.empty}</Muted>
      )}
      {data && data.entries.length > 0 && (
        <div>
          <Table caption={messages.caption} quiet columns={[...messages.columns]}>
            {data.entries.map((act) => (
              <ActRow key={act.id} act={act} />
            ))}
          </Table>
          <PaginationLinks {...data.pagination} onGo={(page) => go({ page })} />
        </div>
      )}
    </Page>
  )
}

function ActRow({ act: { at, actorEmail, what, route, details } }: { act: AuditEntryRow }) {
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
      <td>{messages.by(actorEmail)}</td>
      <td>
        <Muted>
          <Ago at={at} />
        </Muted>
      </td>
    </tr>
  )
}
