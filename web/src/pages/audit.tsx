import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { AdministrationNavigation } from '../administration/administration-navigation.tsx'
import { auditQuery, type AuditEntryRow, type AuditFilter } from '../administration/api.ts'
import { describeDetails } from '../administration/messages.ts'
import { Ago } from '../ui/text/ago.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { Page, Row, Muted } from '../ui/layout/page.tsx'
import { Pagination } from '../ui/navigation/pagination.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'

/** What administrators did: who, when, and what they gave. */
export function Screen() {
  const filter = useSearch({ from: '/own/administration/audit' })
  const navigate = useNavigate({ from: '/administration/audit' })
  const { data, error } = useQuery({ ...auditQuery(filter), placeholderData: keepPreviousData })
  const go = (changed: AuditFilter) =>
    void navigate({ search: (before) => ({ ...before, page: undefined, ...changed }), replace: true })
  return (
    <Page wide title="Audit log">
      <AdministrationNavigation />
      <Muted>What administrators change is written down here for 400 days, and nobody can take it away.</Muted>
      <Row>
        <FilterField
          label="E-mail, change or value"
          value={filter.q ?? ''}
          onFilter={(text) => go({ q: text || undefined })}
        />
        {data && <Muted>{counted(data.pagination.total, 'entry', 'entries')}</Muted>}
      </Row>
      <LoadingOrError there={data} error={error} lines={4}>
        Fetching what was done …
      </LoadingOrError>
      {data?.entries.length === 0 && (
        <Muted>{filter.q ? 'There is none like that.' : 'Nothing was changed yet.'}</Muted>
      )}
      {data && data.entries.length > 0 && (
        <div>
          <Table caption="What administrators did" quiet columns={['What', 'About', 'Who', 'When']}>
            {data.entries.map((act) => (
              <ActRow key={act.id} act={act} />
            ))}
          </Table>
          <Pagination {...data.pagination} onGo={(page) => go({ page })} />
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
          <div key={name}>
            {name}: {value}
          </div>
        ))}
      </td>
      <td>by {actorEmail}</td>
      <td>
        <Muted>
          <Ago at={at} />
        </Muted>
      </td>
    </tr>
  )
}
