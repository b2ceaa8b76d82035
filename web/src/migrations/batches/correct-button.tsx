import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { FieldRow, Form, PasswordField, TextField } from '../../ui/forms/form.tsx'
import { Dialog } from '../../ui/layout/dialog.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { batches, type Mailbox, type MailboxCorrection } from './api.ts'
import classes from './batches.module.css'
import { correction as messages, table } from './messages.ts'

/** A button that opens a form to correct the passwords of a mailbox, or its accounts. */
export function CorrectButton({ batchId, mailbox }: { batchId: string; mailbox: Mailbox }) {
  const access = useAccess()
  const dialog = useRef<HTMLDialogElement>(null)
  const [isOpen, setOpen] = useState(false)
  const name = mailbox.source.user ?? table.line(mailbox.line)
  return (
    <>
      <Button
        {...access}
        size="small"
        kind="quiet"
        onClick={() => {
          setOpen(true)
          dialog.current?.showModal()
        }}
      >
        {table.correct} <VisuallyHidden>{name}</VisuallyHidden>
      </Button>
      <Dialog ref={dialog} label={messages.title(name)} onClose={() => setOpen(false)}>
        {isOpen && (
          <div className={classes.dialog}>
            <h2>{messages.title(name)}</h2>
            <Muted>{messages.hint}</Muted>
            <CorrectionForm
              batchId={batchId}
              mailbox={mailbox}
              onDone={() => dialog.current?.close()}
            />
          </div>
        )}
      </Dialog>
    </>
  )
}

type FormProps = { batchId: string; mailbox: Mailbox; onDone: () => void }

function CorrectionForm({ batchId, mailbox, onDone }: FormProps) {
  const queries = useQueryClient()
  const { id, verified, source, destination } = mailbox
  // Others wait to be started with the batch.
  const isRetried = mailbox.state === 'needs_attention'

  async function save(values: Record<string, string>): Promise<void> {
    await batches.correct(batchId, id, changesOf(values, mailbox))
    if (isRetried) await batches.retry(batchId, { mailboxes: [id] })
    await queries.invalidateQueries({ queryKey: ['batches', 'one', batchId] })
    onDone()
  }

  return (
    <Form
      submit={isRetried ? messages.saveAndRetry : messages.submit}
      onSubmit={save}
      aside={<Button onClick={onDone}>{messages.close}</Button>}
    >
      {!verified && (
        <>
          <FieldRow>
            <TextField
              name="source.host"
              label={messages.sourceHost}
              defaultValue={source.host ?? ''}
            />
            <TextField
              name="source.user"
              label={messages.sourceUser}
              defaultValue={source.user ?? ''}
            />
          </FieldRow>
          <FieldRow>
            <TextField
              name="destination.host"
              label={messages.destinationHost}
              defaultValue={destination.host ?? ''}
            />
            <TextField
              name="destination.user"
              label={messages.destinationUser}
              defaultValue={destination.user ?? ''}
            />
          </FieldRow>
        </>
      )}
      <PasswordField
        name="source.password"
        label={messages.sourcePassword}
        autoComplete="new-password"
      />
      <PasswordField
        name="destination.password"
        label={messages.destinationPassword}
        autoComplete="new-password"
      />
    </Form>
  )
}

/** Only what was changed. */
function changesOf(values: Record<string, string>, mailbox: Mailbox): MailboxCorrection {
  const side = (name: 'source' | 'destination') => {
    const parts = (['host', 'user', 'password'] as const).flatMap((part) => {
      const value = values[`${name}.${part}`]?.trim()
      const before = part === 'password' ? null : mailbox[name][part]
      return value && value !== before ? [[part, values[`${name}.${part}`]]] : []
    })
    return Object.fromEntries(parts) as NonNullable<MailboxCorrection['source']>
  }
  return { source: side('source'), destination: side('destination') }
}
