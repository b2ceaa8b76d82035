import { useEffect, useId, useRef, type ReactNode } from 'react'
import { Button } from '../actions/button.tsx'
import { ConfirmDialog } from '../actions/confirm.tsx'
import { Form } from '../forms/form.tsx'
import { messages } from '../messages.ts'

type FormDialogProps = {
  title: string
  submit: string
  /** As in `Form`. */
  check?: (values: Record<string, string>) => Record<string, string>
  /** The dialog closes when it has resolved. */
  onSubmit: (values: Record<string, string>) => Promise<void>
  onClose: () => void
  children: ReactNode
}

/** A small form over the page, open as long as it is mounted. */
export function FormDialog({ title, onSubmit, onClose, children, ...form }: FormDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const close = () => dialog.current?.close()
  return (
    <ConfirmDialog ref={dialog} heading={useId()} title={title} onClose={onClose}>
      <Form
        {...form}
        onSubmit={async (values) => {
          await onSubmit(values)
          close()
        }}
        aside={<Button onClick={close}>{messages.confirm.cancel}</Button>}
      >
        {children}
      </Form>
    </ConfirmDialog>
  )
}
