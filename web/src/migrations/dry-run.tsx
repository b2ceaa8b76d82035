import { Notice } from '../ui/feedback/notice.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { counted, sizeText } from '../ui/text/format.ts'
import { isOpen, type Migration } from './api.ts'
import { useMigration } from './use-migration.ts'
import { sentenceOf } from './words.ts'

type DryRunProps = {
  id: string
  /** Something was changed since. */
  isStale: boolean
}

/** What a dry run found. */
export function DryRun({ id, isStale }: DryRunProps) {
  const { data, error } = useMigration(id)
  if (error) return <Notice tone="unknown">{error.message}</Notice>
  if (!data || isOpen(data)) return <Loading lines={2}>{data ? sentenceOf(data) : 'The dry run begins …'}</Loading>
  return (
    <>
      <div role="status">
        <Outcome migration={data} />
      </div>
      <Warnings warnings={data.progress.warnings} />
      {isStale && <Notice tone="unknown">Something was changed since: a dry run tells what that makes of it.</Notice>}
    </>
  )
}

function Outcome({ migration }: { migration: Migration }) {
  const { status, progress, totalMessages } = migration
  if (status === 'failed') {
    return (
      <Notice tone="bad" title="The dry run found what would go wrong">
        {progress.errors.slice(0, 5).map(({ folder, message }, index) => (
          <p key={index}>
            {folder && `${folder}: `}
            {message}
          </p>
        ))}
      </Notice>
    )
  }
  const size = progress.bytesTotal === null ? '' : `, ${sizeText(progress.bytesTotal)}`
  return (
    <Notice tone="good" title="It can be copied">
      <p>
        {counted(totalMessages, 'message')}
        {size}. Nothing was copied.
      </p>
    </Notice>
  )
}

export function Warnings({ warnings }: { warnings: Migration['progress']['warnings'] }) {
  return warnings.map(({ code, folder, message }) => (
    <Notice key={`${code} ${folder}`} tone="warn">
      <p>{message}</p>
    </Notice>
  ))
}
