import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { AdministrationViews } from '../administration/administration-views.tsx'
import { peopleQuery } from '../administration/api.ts'
import { NewPerson } from '../administration/new-person.tsx'
import { PeopleTable } from '../administration/people-table.tsx'
import { Page, Section } from '../ui/layout/page.tsx'
import { Pagination } from '../ui/navigation/pagination.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'

/** Who uses this Portreeve, and how much they may. */
export function Screen() {
  const { page = 1 } = useSearch({ from: '/own/administration/accounts' })
  const navigate = useNavigate({ from: '/administration/accounts' })
  const { data, error } = useQuery({ ...peopleQuery(page), placeholderData: keepPreviousData })
  return (
    <Page wide title="Accounts">
      <AdministrationViews />
      <LoadingOrError there={data} error={error} lines={4}>
        Fetching the accounts …
      </LoadingOrError>
      {data && (
        <div>
          <PeopleTable people={data.accounts} page={page} />
          <Pagination {...data.pagination} onGo={(to) => void navigate({ search: { page: to } })} />
        </div>
      )}
      <Section title="A new account">
        <NewPerson />
      </Section>
    </Page>
  )
}
