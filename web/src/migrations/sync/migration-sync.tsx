import { useQueryClient } from '@tanstack/react-query'
import { secretOf, wrongSecret } from '../../imap/account.ts'
import { SecretField } from '../../imap/secret-field.tsx'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { FieldRow } from '../../ui/forms/form.tsx'
import { Muted, Row, Stack } from '../../ui/layout/page.tsx'
import { Facts } from '../../ui/lists/facts.tsx'
import { Ago, Until } from '../../ui/text/ago.tsx'
import { numberText } from '../../ui/text/format.ts'
import { useAccess } from '../../workspaces/roles.ts'
import { isMigrationOpen, migrationQuery, migrations, type Migration } from '../api.ts'
import { retry as retryMessages } from '../messages.ts'
import { sync as messages } from './messages.ts'
import { SyncForm, type SyncSettings } from './sync-form.tsx'

const SOURCE = 'source.'
const DESTINATION = 'destination.'

/** The standing synchronization of a migration: its passes, and how to start, change and end it. */
export function MigrationSync({ migration }: { migration: Migration }) {
  const { migrationId: id, sync, batchId } = migration
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: migrationQuery(id).queryKey })
  const needsPasswords = sync === null && !isMigrationOpen(migration)

  async function save(settings: SyncSettings, values: Record<string, string>): Promise<void> {
    await migrations.synchronize(id, {
      ...settings,
      ...(needsPasswords && {
        source: secretOf(values, SOURCE),
        destination: secretOf(values, DESTINATION),
      }),
    })
    await refresh()
  }

  return (
    <Stack>
      {sync ? <Passes migration={migration} sync={sync} /> : <Muted>{messages.about}</Muted>}
      {sync && sync.heldDeletions > 0 && (
        <ConfirmDeletions id={id} count={sync.heldDeletions} onConfirm={refresh} />
      )}
      {batchId === null && (
        <>
          <SyncForm
            key={sync ? 'change' : 'start'}
            current={sync}
            onSave={save}
            check={needsPasswords ? missing : undefined}
          >
            {needsPasswords && <Passwords migration={migration} />}
          </SyncForm>
          {sync && <End id={id} onEnd={refresh} />}
        </>
      )}
    </Stack>
  )
}

function Passes({
  migration,
  sync: { everyMinutes, deletions, heldDeletions, nextPassAt, endsAt, passes, lastPass },
}: {
  migration: Migration
  sync: NonNullable<Migration['sync']>
}) {
  const waiting = isMigrationOpen(migration) ? messages.isRunning : messages.needsAction
  return (
    <Facts
      facts={[
        [messages.every, messages.everyMinutes(everyMinutes)],
        [messages.deletions, messages.deletionsOf[deletions]],
        [messages.held, heldDeletions > 0 && messages.heldMessages(heldDeletions)],
        [messages.lastPass, lastPass && <Ago key="last" at={lastPass.endedAt} />],
        [messages.changes, lastPass?.changes ? messages.describe(lastPass.changes) : null],
        [messages.error, lastPass?.error ?? null],
        [messages.nextPass, nextPassAt ? <Until key="next" at={nextPassAt} /> : waiting],
        [messages.passes, numberText(passes)],
        [messages.endsAt, <Until key="ends" at={endsAt} />],
      ]}
    />
  )
}

/** They were deleted when the migration ended. */
function Passwords({ migration }: { migration: Migration }) {
  const { srcUser, srcHost, srcSignIn, dstUser, dstHost, dstSignIn } = migration
  return (
    <FieldRow>
      <SecretField
        prefix={SOURCE}
        labelOf={(secret) =>
          retryMessages.source(secret.toLowerCase(), srcSignIn.administrator ?? srcUser, srcHost)
        }
      />
      <SecretField
        prefix={DESTINATION}
        labelOf={(secret) =>
          retryMessages.destination(
            secret.toLowerCase(),
            dstSignIn.administrator ?? dstUser,
            dstHost,
          )
        }
      />
    </FieldRow>
  )
}

function missing(values: Record<string, string>): Record<string, string> {
  return { ...wrongSecret(values, SOURCE), ...wrongSecret(values, DESTINATION) }
}

function ConfirmDeletions({
  id,
  count,
  onConfirm,
}: {
  id: string
  count: number
  onConfirm: () => Promise<void>
}) {
  const access = useAccess()
  async function confirm(): Promise<void> {
    await migrations.confirmDeletions(id)
    await onConfirm()
  }
  return (
    <Row>
      <ConfirmButton
        {...access}
        kind="plain"
        label={messages.confirm}
        about={messages.held}
        title={messages.confirmTitle}
        onConfirm={confirm}
      >
        {messages.confirmText(count)}
      </ConfirmButton>
    </Row>
  )
}

function End({ id, onEnd }: { id: string; onEnd: () => Promise<void> }) {
  const access = useAccess()
  async function end(): Promise<void> {
    await migrations.endSync(id)
    await onEnd()
  }
  return (
    <Row>
      <ConfirmButton
        {...access}
        label={messages.end}
        about={messages.title}
        title={messages.endTitle}
        onConfirm={end}
      >
        {messages.endText}
      </ConfirmButton>
    </Row>
  )
}
