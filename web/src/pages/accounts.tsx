import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { administration, accountsQuery } from '../administration/api.ts'
import { NewAccountForm } from '../administration/new-account.tsx'
import { ACCOUNT_SORTS, AccountTable } from '../administration/account-table.tsx'
import { orderOf } from '../search.ts'
import { Page, Section } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { accounts as messages, newAccount } from '../administration/messages.ts'

/** All accounts of this service, with their plans and roles. */
export function Screen() {
  const { page, q, sort } = useSearch({ from: '/own/administration/accounts' })
  const filter = { q, sort: orderOf(sort, ACCOUNT_SORTS) }
  const navigate = useNavigate({ from: '/administration/accounts' })
  const { data, error } = useQuery({
    ...accountsQuery({ ...filter, page }),
    placeholderData: keepPreviousData,
  })
  return (
    <Page
      wide
      title={messages.title}
      rail={
        <Section title={newAccount.title}>
          <NewAccountForm />
        </Section>
      }
    >
      <LoadingOrError there={data} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {data && (
        <AccountTable
          people={data.accounts}
          filter={{ ...filter, page }}
          paged={{
            ...data.pagination,
            onGo: (to) => void navigate({ search: (before) => ({ ...before, page: to }) }),
            sorts: ACCOUNT_SORTS,
            loadPage: async (number) =>
              (await administration.accounts({ ...filter, page: number })).accounts,
          }}
        />
      )}
    </Page>
  )
}
