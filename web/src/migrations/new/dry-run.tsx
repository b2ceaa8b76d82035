import { Notice } from '../../ui/feedback/notice.tsx'
import { Loading } from '../../ui/feedback/loading.tsx'
import { isMigrationOpen, type Migration } from '../api.ts'
import { dryRun as messages } from '../messages.ts'
import { useMigration } from '../use-migration.ts'
import { verdictOf } from '../status.ts'

type DryRunProps = {
  id: string
  /** The options changed after the dry run. */
  isStale: boolean
}

/** The result of a dry run. */
export function DryRun({ id, isStale }: DryRunProps) {
  const { data, error } = useMigration(id)
  if (error) return <Notice tone="unknown">{error.message}</Notice>
  if (!data || isMigrationOpen(data))
    return (
      <Loading lines={2} slow>
        {data ? verdictOf(data) : messages.starting}
      </Loading>
    )
  return (
    <>
      <div role="status">
        <Outcome migration={data} />
      </div>
      <MigrationWarnings warnings={data.progress.warnings} />
      {isStale && <Notice tone="unknown">{messages.stale}</Notice>}
    </>
  )
}

function Outcome({ migration }: { migration: Migration }) {
  const { status, progress, totalMessages } = migration
  if (status === 'failed') {
    return (
      <Notice tone="bad" title={messages.failed}>
        {progress.errors.slice(0, 5).map(({ folder, message }, index) => (
          <p key={index}>
            {folder && `${folder}: `}
            {message}
          </p>
        ))}
      </Notice>
    )
  }
  return (
    <Notice tone="good" title={messages.ready}>
      <p>{messages.found(totalMessages, progress.bytesTotal)}</p>
    </Notice>
  )
}

export function MigrationWarnings({ warnings }: { warnings: Migration['progress']['warnings'] }) {
  return warnings.map(({ code, folder, message }) => (
    <Notice key={`${code} ${folder}`} tone="warn">
      <p>{message}</p>
    </Notice>
  ))
}
