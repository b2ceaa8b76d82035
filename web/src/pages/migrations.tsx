import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { migrationsQuery, type Listed } from '../migrations/api.ts'
import { MonthNote, MonthSpent } from '../migrations/month.tsx'
import { standing } from '../migrations/words.ts'
import { Ago } from '../ui/text/ago.tsx'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { Page, Muted } from '../ui/layout/page.tsx'
import { Pagination } from '../ui/navigation/pagination.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted, numberText } from '../ui/text/format.ts'

export function Screen() {
  const { page = 1 } = useSearch({ from: '/own/migrations' })
  const navigate = useNavigate({ from: '/migrations' })
  const { data, error } = useQuery({ ...migrationsQuery(page), placeholderData: keepPreviousData })
  return (
    <Page
      wide
      title="Migrations"
      lead="Copies folders, messages, flags and dates from one mailbox into another. The source is never changed."
      aside={
        <ButtonLink kind="primary" icon="plus" to="/migrations/new">
          New migration
        </ButtonLink>
      }
    >
      <LoadingOrError there={data} error={error} lines={4}>
        Fetching your migrations …
      </LoadingOrError>
      {data && data.pagination.total === 0 && <NoMigration />}
      {data && data.migrations.length > 0 && (
        <div>
          <MigrationTable migrations={data.migrations} />
          <Pagination {...data.pagination} onGo={(to) => void navigate({ search: { page: to } })} />
        </div>
      )}
      {data && <MonthSpent month={data.month} />}
      {data && <MonthNote month={data.month} />}
    </Page>
  )
}

function NoMigration() {
  return (
    <Empty icon="move" title="No mailbox was moved yet">
      <p>
        <Muted>
          Begin with “New migration”: it tests both accounts before anything is copied. Or at a terminal, with no
          account:
        </Muted>
      </p>
      <Snippet
        what="the command"
        text={`npx portreeve migrate --all \\\n  --source imaps://alice@imap.old.example \\\n  --destination imaps://alice@imap.new.example`}
      />
    </Empty>
  )
}

function MigrationTable({ migrations }: { migrations: Listed[] }) {
  return (
    <Table caption="Your migrations" quiet columns={['Mailboxes', 'Progress', 'State', 'Made']}>
      {migrations.map((migration) => (
        <MigrationRow key={migration.migrationId} migration={migration} />
      ))}
    </Table>
  )
}

function MigrationRow({ migration }: { migration: Listed }) {
  const { migrationId: id, srcUser, srcHost, dstUser, dstHost, dryRun, progress, createdAt } = migration
  const { tone, word } = standing(migration)
  const { messagesDone, messagesTotal } = progress
  return (
    <tr>
      <th scope="row">
        <Link to="/migrations/$id" params={{ id }}>
          {srcUser} on {srcHost}
        </Link>
        <small>
          to {dstUser} on {dstHost}
          {dryRun && ' · dry run'}
        </small>
      </th>
      <td>
        {!dryRun && (
          <ProgressBar
            label={`Messages of ${srcUser}`}
            done={messagesDone}
            total={messagesTotal}
            tone={migration.status === 'running' ? undefined : tone}
          />
        )}
        <small>
          {!dryRun && `${numberText(messagesDone)} of `}
          {counted(messagesTotal, 'message')}
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
