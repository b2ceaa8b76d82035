import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { Snippet } from '../../ui/actions/copy.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Dialog } from '../../ui/layout/dialog.tsx'
import { Muted, Row } from '../../ui/layout/page.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import type { Side } from '../api.ts'
import { owners as messages } from '../messages.ts'
import { batches, batchLinksQuery, type Mailbox } from './api.ts'
import classes from './batches.module.css'

/** A button that creates the link for the owner of one mailbox, and shows it once. */
export function OwnerLinkButton({ batchId, mailbox }: { batchId: string; mailbox: Mailbox }) {
  const access = useAccess()
  const queries = useQueryClient()
  const dialog = useRef<HTMLDialogElement>(null)
  const [shown, setShown] = useState({ url: '', problem: '' })
  const name = mailbox.source.user ?? ''

  async function create(side: Side): Promise<void> {
    try {
      const [link] = await batches.createLinks(batchId, side, [mailbox.id])
      setShown({ url: link?.url ?? '', problem: '' })
      await queries.invalidateQueries(batchLinksQuery(batchId))
    } catch (error) {
      setShown({ url: '', problem: (error as Error).message })
    }
  }

  return (
    <>
      <Button {...access} size="small" kind="quiet" onClick={() => dialog.current?.showModal()}>
        {messages.linkOf} <VisuallyHidden>{name}</VisuallyHidden>
      </Button>
      <Dialog
        ref={dialog}
        label={messages.dialogTitle(name)}
        onClose={() => setShown({ url: '', problem: '' })}
      >
        <div className={classes.dialog}>
          <h2>{messages.dialogTitle(name)}</h2>
          <Muted>{messages.text}</Muted>
          <Row>
            {(['source', 'destination'] as const).map((side) => (
              <Button key={side} onClick={() => void create(side)}>
                {messages.of(messages.side[side], mailbox[side].user ?? '')}
              </Button>
            ))}
          </Row>
          {shown.url && (
            <div role="status">
              <Snippet what={messages.url} text={shown.url} />
              <Muted>{messages.once}</Muted>
            </div>
          )}
          <div role="alert">{shown.problem && <Notice tone="bad">{shown.problem}</Notice>}</div>
          <div>
            <Button onClick={() => dialog.current?.close()}>{messages.close}</Button>
          </div>
        </div>
      </Dialog>
    </>
  )
}
