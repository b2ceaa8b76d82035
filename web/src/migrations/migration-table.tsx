import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { agoCell } from '../ui/lists/ago-cell.tsx'
import type { Column } from '../ui/lists/column.ts'
import { DataTable } from '../ui/lists/data-table.tsx'
import type { Paged } from '../ui/lists/paged.ts'
import type { RowAction } from '../ui/lists/row-action.ts'
import { counted } from '../ui/text/format.ts'
import { useAccess } from '../workspaces/roles.ts'
import { isMigrationOpen, migrations as requests, type Listed } from './api.ts'
import { list as messages, migration as texts } from './messages.ts'
import { describeStatus } from './status.ts'

/** The columns that the API sorts by. */
export const MIGRATION_SORTS = ['srcUser', 'progress', 'status', 'createdAt'] as const

type MigrationTableProps = { migrations: Listed[]; paged: Paged<Listed> }

/** Migrations with their progress. */
export function MigrationTable({ migrations, paged }: MigrationTableProps) {
  return (
    <DataTable
      caption={messages.yours}
      columns={COLUMNS}
      rows={migrations}
      rowId={({ migrationId }) => migrationId}
      nameOf={sourceOf}
      count={(rows) => counted(rows, 'migration')}
      filterLabel={messages.filter}
      actions={useMigrationActions()}
      csvName="migrations"
      paged={paged}
    />
  )
}

function useMigrationActions(): RowAction<Listed>[] {
  const access = useAccess()
  const queries = useQueryClient()
  return [
    {
      ...access,
      label: texts.stop,
      kind: 'quiet',
      appliesTo: isMigrationOpen,
      confirm: { title: messages.stopSeveral, text: messages.stopText, keep: texts.stopKeep },
      send: ({ migrationId }) => requests.cancel(migrationId),
      onDone: () => queries.invalidateQueries({ queryKey: ['migrations'] }),
    },
  ]
}

const sourceOf = ({ srcUser, srcHost }: Listed) => messages.account(srcUser, srcHost)
const [mailboxes, progressTitle, status, created] = messages.columns

function Progress({ migration }: { migration: Listed }) {
  const { dryRun, srcUser, errorCount, progress } = migration
  const { messagesDone: done, messagesTotal: total } = progress
  const { tone } = describeStatus(migration)
  if (dryRun) return <small>{messages.total(total)}</small>
  return (
    <>
      <ProgressBar
        label={messages.progressOf(srcUser)}
        done={done}
        total={total}
        tone={migration.status === 'running' ? undefined : tone}
      />
      <small>
        {errorCount > 0
          ? messages.doneWithErrors(done, total, errorCount)
          : messages.done(done, total)}
      </small>
    </>
  )
}

const COLUMNS: Column<Listed>[] = [
  {
    key: 'srcUser',
    title: mailboxes,
    cell: (migration) => (
      <>
        <Link to="/migrations/$id" params={{ id: migration.migrationId }}>
          {sourceOf(migration)}
        </Link>
        <small>
          {messages.destination(migration.dstUser, migration.dstHost)}
          {migration.dryRun && ` · ${messages.dryRun}`}
        </small>
      </>
    ),
    sort: sourceOf,
    csv: sourceOf,
  },
  {
    key: 'destination',
    title: texts.destination,
    csv: ({ dstUser, dstHost }) => messages.account(dstUser, dstHost),
  },
  {
    key: 'progress',
    title: progressTitle,
    cell: (migration) => <Progress migration={migration} />,
    sort: ({ progress: { messagesDone, messagesTotal } }) =>
      messagesTotal === 0 ? null : messagesDone / messagesTotal,
  },
  {
    key: 'processed',
    title: texts.processed,
    csv: ({ progress }) => progress.messagesDone,
  },
  { key: 'messages', title: messages.messages, csv: ({ progress }) => progress.messagesTotal },
  { key: 'errors', title: texts.errors, csv: ({ errorCount }) => errorCount },
  {
    key: 'status',
    title: status,
    cell: (migration) => {
      const { tone, word } = describeStatus(migration)
      return <Status tone={tone}>{word}</Status>
    },
    sort: (migration) => describeStatus(migration).word,
    csv: (migration) => describeStatus(migration).word,
  },
  {
    key: 'createdAt',
    title: created,
    ...agoCell('createdAt'),
    sort: ({ createdAt }) => createdAt,
    descendsFirst: true,
  },
]
