import { useQueryClient } from '@tanstack/react-query'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Muted, Row, Stack } from '../../ui/layout/page.tsx'
import { Facts } from '../../ui/lists/facts.tsx'
import { Ago, Until } from '../../ui/text/ago.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { batches, batchQuery, type Batch } from '../batches/api.ts'
import { sync as messages } from './messages.ts'
import { SyncForm, type SyncSettings } from './sync-form.tsx'

/** The standing synchronization of a batch: its passes, and how to start, change and end it. */
export function BatchSync({ batch: { id, sync, finishedAt } }: { batch: Batch }) {
  const access = useAccess()
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: batchQuery(id).queryKey })

  async function save(settings: SyncSettings): Promise<void> {
    await batches.synchronize(id, settings)
    await refresh()
  }
  async function end(): Promise<void> {
    await batches.endSync(id)
    await refresh()
  }

  if (finishedAt !== null) return null
  return (
    <Stack>
      {sync ? <Passes sync={sync} /> : <Muted>{messages.about}</Muted>}
      <SyncForm key={sync ? 'change' : 'start'} current={sync} onSave={save} />
      {sync && (
        <Row>
          <ConfirmButton
            {...access}
            label={messages.end}
            about={messages.title}
            title={messages.endTitle}
            onConfirm={end}
          >
            {messages.endBatchText}
          </ConfirmButton>
        </Row>
      )}
    </Stack>
  )
}

function Passes({ sync }: { sync: NonNullable<Batch['sync']> }) {
  const { everyMinutes, deletions, lastPassAt, nextPassAt, endsAt, failing } = sync
  const { recordedDeletions } = sync
  return (
    <Facts
      facts={[
        [messages.every, messages.everyMinutes(everyMinutes)],
        [messages.deletions, messages.deletionsOf[deletions]],
        [messages.lastPass, lastPassAt && <Ago key="last" at={lastPassAt} />],
        [messages.nextPass, nextPassAt && <Until key="next" at={nextPassAt} />],
        [messages.failing, failing > 0 && messages.failingMailboxes(failing)],
        [messages.recorded, recordedDeletions > 0 && messages.recordedMessages(recordedDeletions)],
        [messages.endsAt, <Until key="ends" at={endsAt} />],
      ]}
    />
  )
}
