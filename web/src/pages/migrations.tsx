import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { migrationsQuery, type Listed } from '../migrations/api.ts'
import { list as messages } from '../migrations/messages.ts'
import { MonthNote, MonthSpent } from '../migrations/month.tsx'
import { describeStatus } from '../migrations/status.ts'
import { Ago } from '../ui/text/ago.tsx'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { Page, Muted } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const access = useAccess()
  const { page = 1 } = useSearch({ from: '/own/migrations' })
  const navigate = useNavigate({ from: '/migrations' })
  const { data, error } = useQuery({ ...migrationsQuery(page), placeholderData: keepPreviousData })
  return (
    <Page
      wide
      title={messages.title}
      lead={messages.lead}
      aside={
        <ButtonLink {...access} kind="primary" icon="plus" to="/migrations/new">
          {messages.create}
        </ButtonLink>
      }
    >
      <LoadingOrError there={data} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {data && data.pagination.total === 0 && <NoMigration />}
      {data && data.migrations.length > 0 && (
        <div>
          <MigrationTable migrations={data.migrations} />
          <PaginationLinks
            {...data.pagination}
            onGo={(to) => void navigate({ search: { page: to } })}
          />
        </div>
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

function MigrationTable({ migrations }: { migrations: Listed[] }) {
  return (
    <Table caption={messages.yours} quiet columns={[...messages.columns]}>
      {migrations.map((migration) => (
        <MigrationRow key={migration.migrationId} migration={migration} />
      ))}
    </Table>
  )
}

function MigrationRow({ migration }: { migration: Listed }) {
  const {
    migrationId: id,
    srcUser,
    srcHost,
    dstUser,
    dstHost,
    dryRun,
    progress,
    createdAt,
  } = migration
  const { tone, word } = describeStatus(migration)
  const { messagesDone, messagesTotal } = progress
  return (
    <tr>
      <th scope="row">
        <Link to="/migrations/$id" params={{ id }}>
          {messages.account(srcUser, srcHost)}
        </Link>
        <small>
          {messages.destination(dstUser, dstHost)}
          {dryRun && ` · ${messages.dryRun}`}
        </small>
      </th>
      <td>
        {!dryRun && (
          <ProgressBar
            label={messages.progressOf(srcUser)}
            done={messagesDone}
            total={messagesTotal}
            tone={migration.status === 'running' ? undefined : tone}
          />
        )}
        <small>
          {dryRun ? messages.total(messagesTotal) : messages.done(messagesDone, messagesTotal)}
        </small>
      </td>
      <td>
        <Status tone={tone}>{word}</Status>
      </td>
      <td>
        <Muted>
          <Ago at={createdAt} />
        </Muted>
      </td>
    </tr>
  )
}
