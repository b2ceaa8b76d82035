import { useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import {
  isMigrationOpen,
  migrationQuery,
  migrations,
  needsConsent,
  waitsForOwner,
  type Migration,
} from '../migrations/api.ts'
import { ConsentSection } from '../migrations/consent-section.tsx'
import { MigrationWarnings } from '../migrations/new/dry-run.tsx'
import { ErrorTable } from '../migrations/error-table.tsx'
import { FolderTable } from '../migrations/folder-table.tsx'
import { migration as messages } from '../migrations/messages.ts'
import { NoteTable } from '../migrations/note-table.tsx'
import { proof as proofMessages } from '../migrations/proof/messages.ts'
import { OwnerSection } from '../migrations/owner-section.tsx'
import { RetryForm } from '../migrations/retry-form.tsx'
import { sync as syncMessages } from '../migrations/sync/messages.ts'
import { MigrationSync } from '../migrations/sync/migration-sync.tsx'
import { ThroughputSection } from '../migrations/throughput.tsx'
import { useMigration } from '../migrations/use-migration.ts'
import { countMessages, isCancelled, describeStatus, verdictOf } from '../migrations/status.ts'
import { Ago } from '../ui/text/ago.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Stats } from '../ui/lists/stats.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { ConnectionStatus } from '../ui/feedback/connection-status.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted, Page, Row, Section } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { durationText, numberText, sizeText } from '../ui/text/format.ts'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/migrations/$id' })
  const { data, error, link, follows } = useMigration(id)
  return (
    <Page
      wide
      title={
        data
          ? (data.dryRun ? messages.dryRunTitle : messages.title)(data.srcUser)
          : messages.untitled
      }
      above={
        data?.batchId ? (
          <BackLink to="/migrations/batches/$id" params={{ id: data.batchId }}>
            {messages.backToBatch}
          </BackLink>
        ) : (
          <BackLink to="/migrations">{messages.back}</BackLink>
        )
      }
      rail={
        data ? (
          <Section title={messages.settings}>
            <Settings migration={data} />
          </Section>
        ) : null
      }
      aside={
        <Row>
          {follows && <ConnectionStatus link={link} />}
          {data && data.batchId === null && isMigrationOpen(data) && <Cancel migration={data} />}
        </Row>
      }
    >
      <LoadingOrError there={data} error={error} lines={5}>
        {messages.loading}
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
      {!dryRun && <ThroughputSection id={migration.migrationId} />}
      <MigrationWarnings warnings={progress.warnings} />
      {needsConsent(migration) && <OwnerSection migration={migration} />}
      {needsConsent(migration) && !waitsForOwner(migration) && (
        <ConsentSection migration={migration} />
      )}
      {status === 'failed' && !dryRun && migration.batchId === null && (
        <Section title={isCancelled(migration) ? messages.resume : messages.retry}>
          <RetryForm migration={migration} />
        </Section>
      )}
      {canShowSync(migration) && (
        <Section title={syncMessages.title}>
          <MigrationSync migration={migration} />
        </Section>
      )}
      {!dryRun && !isMigrationOpen(migration) && (
        <Section title={proofMessages.title}>
          <Muted>{proofMessages.about}</Muted>
          <Link to="/migrations/$id/proof" params={{ id: migration.migrationId }}>
            {proofMessages.open}
          </Link>
        </Section>
      )}
      {progress.errors.length > 0 && !isCancelled(migration) && (
        <Section title={messages.errors}>
          <ErrorTable errors={progress.errors} count={migration.errorCount} />
        </Section>
      )}
      {progress.notes.length > 0 && (
        <Section title={messages.notes}>
          <NoteTable notes={progress.notes} />
        </Section>
      )}
      {(totalMessages > 0 || Object.keys(progress.folderProgress).length > 0) && (
        <Section title={messages.folders}>
          <FolderTable migration={migration} />
        </Section>
      )}
    </>
  )
}

/** A failed migration is retried first. */
function canShowSync({ sync, dryRun, status, batchId }: Migration): boolean {
  return sync !== null || (!dryRun && batchId === null && status !== 'failed')
}

/** The verdict first, then progress and rate. */
function Headline({ migration }: { migration: Migration }) {
  const { progress, status } = migration
  const { messagesDone, messagesTotal, bytesDone, bytesTotal, foldersDone, foldersTotal } = progress
  const { copied, alreadyThere, failed } = countMessages(migration)
  const tone = isCancelled(migration) ? 'warn' : describeStatus(migration).tone
  const isRunning = status === 'running'
  return (
    <>
      <div>
        <div role="status" aria-live={isRunning ? 'off' : 'polite'}>
          <Notice tone={tone}>
            <strong>{verdictOf(migration)}</strong>
          </Notice>
        </div>
        <div role="status">
          <VisuallyHidden>
            {isRunning ? quarterText(messagesDone, messagesTotal) : ''}
          </VisuallyHidden>
        </div>
      </div>
      {!migration.dryRun && messagesTotal > 0 && (
        <>
          <ProgressBar
            size="thick"
            label={messages.processed}
            done={messagesDone}
            total={messagesTotal}
            tone={isRunning ? undefined : tone}
          />
          <Stats
            stats={[
              [
                messages.stats.messages,
                messages.of(numberText(messagesDone), numberText(messagesTotal)),
              ],
              [messages.stats.copied, numberText(copied)],
              [messages.stats.alreadyThere, alreadyThere > 0 && numberText(alreadyThere)],
              [messages.stats.failed, failed > 0 && numberText(failed)],
              [
                messages.stats.data,
                bytesTotal === null
                  ? sizeText(bytesDone)
                  : messages.of(sizeText(bytesDone), sizeText(bytesTotal)),
              ],
              [messages.stats.folders, messages.of(String(foldersDone), String(foldersTotal))],
              [messages.stats.rate, isRunning && rateText(progress)],
              [
                messages.stats.remaining,
                isRunning && progress.etaSeconds ? durationText(progress.etaSeconds) : null,
              ],
              [messages.stats.duration, durationOf(migration)],
            ]}
          />
        </>
      )}
    </>
  )
}

/** Announced once per quarter, because screen readers would otherwise read every step. */
function quarterText(done: number, total: number): string {
  const quarters = total > 0 ? Math.floor((done / total) * 4) : 0
  return quarters > 0 ? messages.percent(quarters * 25) : ''
}

function rateText({ messagesPerSecond, bytesPerSecond }: Migration['progress']): string | null {
  if (messagesPerSecond <= 0) return null
  return messages.rate(messagesPerSecond, bytesPerSecond)
}

function durationOf({ startedAt, completedAt }: Migration): string | null {
  if (startedAt === null || completedAt === null) return null
  return durationText((Date.parse(completedAt) - Date.parse(startedAt)) / 1_000)
}

function Settings({ migration }: { migration: Migration }) {
  const {
    srcUser,
    srcHost,
    dstUser,
    dstHost,
    destPrefix,
    deduplicate,
    createdAt,
    startedAt,
    completedAt,
  } = migration
  return (
    <Facts
      facts={[
        [messages.source, messages.account(srcUser, srcHost)],
        [
          messages.destination,
          messages.account(dstUser, dstHost) + (destPrefix && messages.below(destPrefix)),
        ],
        [messages.duplicates, deduplicate ? messages.duplicatesSkipped : messages.duplicatesCopied],
        [messages.created, <Ago key="created" at={createdAt} />],
        [messages.started, startedAt && <Ago key="started" at={startedAt} />],
        [messages.ended, completedAt && <Ago key="ended" at={completedAt} />],
      ]}
    />
  )
}

function Cancel({ migration: { migrationId: id, srcUser } }: { migration: Migration }) {
  const access = useAccess()
  const queries = useQueryClient()

  async function cancel(): Promise<void> {
    await migrations.cancel(id)
    await queries.invalidateQueries({ queryKey: migrationQuery(id).queryKey })
  }

  return (
    <ConfirmButton
      {...access}
      label={messages.stop}
      about={messages.stopAbout}
      title={messages.stopTitle(srcUser)}
      keep={messages.stopKeep}
      onConfirm={cancel}
    >
      {messages.stopText}
    </ConfirmButton>
  )
}
