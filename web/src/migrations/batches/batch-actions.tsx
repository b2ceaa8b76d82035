import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { showToast } from '../../toasts.ts'
import { Button, DownloadLink } from '../../ui/actions/button.tsx'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Row } from '../../ui/layout/page.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { AddButton } from './add-button.tsx'
import { batches, batchQuery, reportPath, type Batch } from './api.ts'
import { batch as messages } from './messages.ts'

/** Runs an action of a batch; one at a time. A failure is shown as a toast. */
export function useBatchAction(id: string) {
  const queries = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  async function run(action: () => Promise<unknown>): Promise<void> {
    setBusy(true)
    try {
      await action()
      await queries.invalidateQueries({ queryKey: batchQuery(id).queryKey })
    } catch (error) {
      showToast({ text: (error as Error).message })
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, run }
}

/** The actions that the state of a batch allows. */
export function BatchActions({ batch }: { batch: Batch }) {
  const { id, status, counts, finishedAt, mailboxes } = batch
  const access = useAccess()
  const { isBusy, run } = useBatchAction(id)
  const { ready = 0, in_sync: synced = 0 } = counts
  const isActive = (counts['queued'] ?? 0) + (counts['syncing'] ?? 0) > 0
  const isPaused = status === 'paused'
  const canStart = finishedAt === null && !isPaused
  return (
    <Row>
      {canStart && ready > 0 && (
        <>
          <Button
            {...access}
            kind="primary"
            busy={isBusy}
            onClick={() => void run(() => batches.start(id))}
          >
            {messages.start(ready)}
          </Button>
          <Button {...access} busy={isBusy} onClick={() => void run(() => batches.dryRun(id))}>
            {messages.dryRun}
          </Button>
        </>
      )}
      {canStart && !isActive && synced > 0 && (
        <Button {...access} busy={isBusy} onClick={() => void run(() => batches.start(id, true))}>
          {messages.again}
        </Button>
      )}
      {isActive && (
        <Button {...access} busy={isBusy} onClick={() => void run(() => batches.pause(id))}>
          {messages.pause}
        </Button>
      )}
      {isPaused && (
        <Button
          {...access}
          kind="primary"
          busy={isBusy}
          onClick={() => void run(() => batches.resume(id))}
        >
          {messages.resume}
        </Button>
      )}
      {finishedAt === null && <AddButton id={id} />}
      {mailboxes > 0 && (
        <DownloadLink href={reportPath(id)} name={`batch-${id}.csv`}>
          {messages.report}
        </DownloadLink>
      )}
      {finishedAt === null && !isActive && <EndButton batch={batch} />}
    </Row>
  )
}

/** Finishes a batch, or deletes one of which nothing was copied. */
function EndButton({ batch: { id, name, counts, messagesDone } }: { batch: Batch }) {
  const access = useAccess()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isUntouched = messagesDone === 0 && (counts['in_sync'] ?? 0) === 0

  async function end(): Promise<void> {
    if (!isUntouched) await batches.finish(id)
    else {
      await batches.delete(id)
      await navigate({ to: '/migrations/batches' })
    }
    await queries.invalidateQueries({ queryKey: ['batches'] })
  }

  return (
    <ConfirmButton
      {...access}
      label={isUntouched ? messages.delete : messages.finish}
      about={name}
      title={isUntouched ? messages.deleteTitle : messages.finishTitle}
      onConfirm={end}
    >
      {isUntouched ? messages.deleteText : messages.finishText}
    </ConfirmButton>
  )
}
