import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { migrations, migrationsQuery } from '../migrations/api.ts'
import { list as messages } from '../migrations/messages.ts'
import { MIGRATION_SORTS, MigrationTable } from '../migrations/migration-table.tsx'
import { MonthNote, MonthSpent } from '../migrations/month.tsx'
import { orderOf } from '../search.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { Page, Muted, Row } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const access = useAccess()
  const { page, q, sort } = useSearch({ from: '/own/migrations' })
  const filter = { q, sort: orderOf(sort, MIGRATION_SORTS) }
  const navigate = useNavigate({ from: '/migrations' })
  const { data, error } = useQuery({
    ...migrationsQuery({ ...filter, page }),
    placeholderData: keepPreviousData,
  })
  return (
    <Page
      wide
      title={messages.title}
      lead={messages.lead}
      aside={
        <Row>
          <ButtonLink to="/migrations/sign-ins">{messages.signIns}</ButtonLink>
          <ButtonLink to="/migrations/batches">{messages.batches}</ButtonLink>
          <ButtonLink {...access} kind="primary" icon="plus" to="/migrations/new">
            {messages.create}
          </ButtonLink>
        </Row>
      }
    >
      <LoadingOrError there={data} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {data && data.pagination.total === 0 && !q && <NoMigration />}
      {data && (data.pagination.total > 0 || q) && (
        <MigrationTable
          migrations={data.migrations}
          paged={{
            ...data.pagination,
            onGo: (to) => void navigate({ search: (before) => ({ ...before, page: to }) }),
            sorts: MIGRATION_SORTS,
            loadPage: async (number) =>
              (await migrations.list({ ...filter, page: number })).migrations,
          }}
        />
      )}
      {data && <MonthSpent month={data.month} />}
      {data && <MonthNote month={data.month} />}
    </Page>
  )
}

function NoMigration() {
  return (
    <Empty icon="move" title={messages.empty}>
      <p>
        <Muted>{messages.emptyText}</Muted>
      </p>
      <Snippet
        what={messages.command}
        text={`npx portreeve migrate --all \\\n  --source imaps://alice@imap.old.example \\\n  --destination imaps://alice@imap.new.example`}
      />
    </Empty>
  )
}
