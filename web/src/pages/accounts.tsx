import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { AdministrationNavigation } from '../administration/administration-navigation.tsx'
import { accountsQuery } from '../administration/api.ts'
import { NewAccountForm } from '../administration/new-account.tsx'
import { AccountTable } from '../administration/account-table.tsx'
import { Page, Section } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { accounts as messages, newAccount } from '../administration/messages.ts'

/** All accounts of this service, with their plans and roles. */
export function Screen() {
  const { page = 1 } = useSearch({ from: '/own/administration/accounts' })
  const navigate = useNavigate({ from: '/administration/accounts' })
  const { data, error } = useQuery({ ...accountsQuery(page), placeholderData: keepPreviousData })
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
      <AdministrationNavigation />
      <LoadingOrError there={data} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {data && (
        <div>
          <AccountTable people={data.accounts} page={page} />
          <PaginationLinks
            {...data.pagination}
            onGo={(to) => void navigate({ search: { page: to } })}
          />
        </div>
      )}
    </Page>
  )
}
