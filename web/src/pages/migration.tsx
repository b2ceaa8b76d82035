import { useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { isOpen, migrationQuery, migrations, type Migration } from '../migrations/api.ts'
import { Warnings } from '../migrations/dry-run.tsx'
import { ErrorTable } from '../migrations/error-table.tsx'
import { FolderTable } from '../migrations/folder-table.tsx'
import { NoteTable } from '../migrations/note-table.tsx'
import { RetryForm } from '../migrations/retry-form.tsx'
import { useMigration } from '../migrations/use-migration.ts'
import { isCancelled, sentenceOf, standing } from '../migrations/words.ts'
import { Ago } from '../ui/text/ago.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Stats } from '../ui/lists/stats.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { ConnectionStatus } from '../ui/feedback/connection-status.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Row, Section } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { durationText, numberText, sizeText } from '../ui/text/format.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/migrations/$id' })
  const { data, error, link, follows } = useMigration(id)
  return (
    <Page
      wide
      title={data ? `${data.dryRun ? 'Dry run' : 'Migration'} of ${data.srcUser}` : 'Migration'}
      above={<BackLink to="/migrations">Migrations</BackLink>}
      aside={
        <Row>
          {follows && <ConnectionStatus link={link} />}
          {data && isOpen(data) && <Cancel migration={data} />}
        </Row>
      }
    >
      <LoadingOrError there={data} error={error} lines={5}>
        Fetching the migration …
      </LoadingOrError>
      {data && <Progress migration={data} />}
    </Page>
  )
}

function Progress({ migration }: { migration: Migration }) {
  const { progress, totalMessages, status, dryRun } = migration
  return (
    <>
      <Headline migration={migration} />
      <Warnings warnings={progress.warnings} />
      {status === 'failed' && !dryRun && (
        <Section title={isCancelled(migration) ? 'Go on with it' : 'Try again what failed'}>
          <RetryForm migration={migration} />
        </Section>
      )}
      {progress.errors.length > 0 && !isCancelled(migration) && (
        <Section title="What failed">
          <ErrorTable errors={progress.errors} count={migration.errorCount} />
        </Section>
      )}
      {progress.notes.length > 0 && (
        <Section title="Not kept exactly as it was">
          <NoteTable notes={progress.notes} />
        </Section>
      )}
      {(totalMessages > 0 || Object.keys(progress.folderProgress).length > 0) && (
        <Section title="Folders">
          <FolderTable migration={migration} />
        </Section>
      )}
      <Section title="What was asked for">
        <Asked migration={migration} />
      </Section>
    </>
  )
}

/** The verdict first, then how much and how fast. */
function Headline({ migration }: { migration: Migration }) {
  const { progress, status } = migration
  const { messagesDone, messagesTotal, bytesDone, bytesTotal, foldersDone, foldersTotal } = progress
  const tone = isCancelled(migration) ? 'warn' : standing(migration).tone
  const isRunning = status === 'running'
  return (
    <>
      <div>
        <div role="status" aria-live={isRunning ? 'off' : 'polite'}>
          <Notice tone={tone}>
            <strong>{sentenceOf(migration)}</strong>
          </Notice>
        </div>
        <div role="status">
          <VisuallyHidden>{isRunning ? quarterText(messagesDone, messagesTotal) : ''}</VisuallyHidden>
        </div>
      </div>
      {!migration.dryRun && messagesTotal > 0 && (
        <>
          <ProgressBar
            size="thick"
            label="Messages copied"
            done={messagesDone}
            total={messagesTotal}
            tone={isRunning ? undefined : tone}
          />
          <Stats
            stats={[
              ['Messages', `${numberText(messagesDone)} of ${numberText(messagesTotal)}`],
              ['Copied', `${sizeText(bytesDone)}${bytesTotal === null ? '' : ` of ${sizeText(bytesTotal)}`}`],
              ['Folders', `${foldersDone} of ${foldersTotal}`],
              ['Rate', isRunning && rateText(progress)],
              ['Time left', isRunning && progress.etaSeconds ? durationText(progress.etaSeconds) : null],
              ['Took', tookText(migration)],
            ]}
          />
        </>
      )}
    </>
  )
}

/** Said once for each quarter: who cannot see the bar need not hear every step. */
function quarterText(done: number, total: number): string {
  const quarters = total > 0 ? Math.floor((done / total) * 4) : 0
  return quarters > 0 ? `${quarters * 25} per cent are copied.` : ''
}

function rateText({ messagesPerSecond, bytesPerSecond }: Migration['progress']): string | null {
  if (messagesPerSecond <= 0) return null
  return `${numberText(Math.round(messagesPerSecond))} a second, ${sizeText(bytesPerSecond)}/s`
}

function tookText({ startedAt, completedAt }: Migration): string | null {
  if (startedAt === null || completedAt === null) return null
  return durationText((Date.parse(completedAt) - Date.parse(startedAt)) / 1_000)
}

function Asked({ migration }: { migration: Migration }) {
  const { srcUser, srcHost, dstUser, dstHost, destPrefix, deduplicate, createdAt, startedAt, completedAt } = migration
  return (
    <Facts
      facts={[
        ['From', `${srcUser} on ${srcHost}`],
        ['To', `${dstUser} on ${dstHost}${destPrefix && `, below ${destPrefix}`}`],
        ['Duplicates', deduplicate ? 'What is there already is left out.' : 'Copied once more.'],
        ['Made', <Ago key="made" at={createdAt} />],
        ['Begun', startedAt && <Ago key="begun" at={startedAt} />],
        ['Ended', completedAt && <Ago key="ended" at={completedAt} />],
      ]}
    />
  )
}

function Cancel({ migration: { migrationId: id, srcUser } }: { migration: Migration }) {
  const queries = useQueryClient()

  async function cancel(): Promise<void> {
    await migrations.cancel(id)
    await queries.invalidateQueries({ queryKey: migrationQuery(id).queryKey })
  }

  return (
    <ConfirmButton
      label="Stop"
      about="this migration"
      title={`Stop copying the mail of ${srcUser}?`}
      keep="Go on"
      onConfirm={cancel}
    >
      What is copied stays where it is. It can be taken up again later, and goes on where it stopped.
    </ConfirmButton>
  )
}
