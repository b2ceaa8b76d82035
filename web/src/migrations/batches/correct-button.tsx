import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { CheckField, FieldRow, Form, PasswordField, TextField } from '../../ui/forms/form.tsx'
import { Dialog } from '../../ui/layout/dialog.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import type { Side } from '../api.ts'
import { useAccess } from '../../workspaces/roles.ts'
import { batches, type Mailbox, type MailboxCorrection } from './api.ts'
import classes from './batches.module.css'
import { correction as messages, form, table } from './messages.ts'

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
          <AccountFields side="source" account={source} labels={messages.source} />
          <AccountFields side="destination" account={destination} labels={messages.destination} />
          <CheckField name="tlsVerify" label={form.verify} defaultChecked={isVerified(mailbox)} />
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

function AccountFields({
  side,
  account: { host, port, secure, user },
  labels,
}: {
  side: Side
  account: Mailbox[Side]
  labels: (typeof messages)[Side]
}) {
  return (
    <FieldRow>
      <TextField name={`${side}.host`} label={labels.host} defaultValue={host ?? ''} />
      <TextField
        name={`${side}.port`}
        label={labels.port}
        defaultValue={port === null ? '' : String(port)}
        placeholder={secure === false ? '143' : '993'}
        inputMode="numeric"
      />
      <TextField name={`${side}.user`} label={labels.user} defaultValue={user ?? ''} />
    </FieldRow>
  )
}

const isVerified = ({ source, destination }: Mailbox) => source.tlsVerify && destination.tlsVerify

/** Only what was changed. */
function changesOf(values: Record<string, string>, mailbox: Mailbox): MailboxCorrection {
  const tlsVerify = values['tlsVerify'] === 'on'
  const verify = !mailbox.verified && tlsVerify !== isVerified(mailbox) ? { tlsVerify } : {}
  const side = (name: Side) => {
    const parts: [string, string | number][] = (['host', 'user', 'password'] as const).flatMap(
      (part) => {
        const value = values[`${name}.${part}`]?.trim()
        const before = part === 'password' ? null : mailbox[name][part]
        return value && value !== before ? [[part, values[`${name}.${part}`] ?? '']] : []
      },
    )
    const port = Number(values[`${name}.port`] ?? '')
    if (port !== 0 && port !== mailbox[name].port) parts.push(['port', port])
    return { ...Object.fromEntries(parts), ...verify } as NonNullable<MailboxCorrection[Side]>
  }
  return { source: side('source'), destination: side('destination') }
}
