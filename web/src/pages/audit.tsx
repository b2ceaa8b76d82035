import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { AdministrationViews } from '../administration/administration-views.tsx'
import { auditQuery, type Act } from '../administration/api.ts'
import { Ago } from '../ui/ago.tsx'
import { Page, Soft } from '../ui/page.tsx'
import { Pages } from '../ui/pages.tsx'
import { Table } from '../ui/table.tsx'
import { Fetching } from '../ui/waiting.tsx'

/** What administrators did: who, when, and what they gave. */
export function Screen() {
  const { page = 1 } = useSearch({ from: '/own/administration/audit' })
  const navigate = useNavigate({ from: '/administration/audit' })
  const { data, error } = useQuery({ ...auditQuery(page), placeholderData: keepPreviousData })
  return (
    <Page wide title="Acts of administrators">
      <AdministrationViews />
      <Soft>What administrators change is written down here for 400 days, and nobody can take it away.</Soft>
      <Fetching there={data} error={error} lines={4}>
        Fetching what was done …
      </Fetching>
      {data && data.entries.length === 0 && <Soft>Nothing was changed yet.</Soft>}
      {data && data.entries.length > 0 && (
        <div>
          <Table caption="Acts of administrators" quiet columns={['When', 'Who', 'What', 'Given']}>
            {data.entries.map((act) => (
              <ActRow key={act.id} act={act} />
            ))}
          </Table>
          <Pages {...data.pagination} onGo={(to) => void navigate({ search: { page: to } })} />
        </div>
      )}
    </Page>
  )
}

function ActRow({ act: { at, actorEmail, what, route, details } }: { act: Act }) {
  return (
    <tr>
      <td>
        <Ago at={at} />
      </td>
      <td>{actorEmail}</td>
      <th scope="row">
        {what}
        <small>{route}</small>
      </th>
      <td>
        {Object.entries(details).map(([name, value]) => (
          <div key={name}>
            {name}: {typeof value === 'string' ? value : JSON.stringify(value)}
          </div>
        ))}
      </td>
    </tr>
  )
}
