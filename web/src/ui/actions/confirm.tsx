import { useId, useRef, useState, type ReactNode, type RefObject } from 'react'
import { Button, type ButtonKind } from './button.tsx'
import classes from './confirm.module.css'
import { VisuallyHidden } from '../text/visually-hidden.tsx'
import { Notice } from '../feedback/notice.tsx'
import { messages } from '../messages.ts'

type ConfirmProps = {
  /** Label of the button that opens the dialog, and of the one that confirms. */
  label: string
  /** The object of the label, for screen readers. */
  about: string
  title: string
  kind?: ButtonKind
  /** Label of the button that closes the dialog, “Cancel” by default. */
  keep?: string
  disabledReason?: string | undefined
  children: ReactNode
  onConfirm: () => Promise<void>
}

/**
 * A button that asks for confirmation first. The browser's own dialog traps the focus and closes on
 * Escape.
 */
export function ConfirmButton({
  label,
  about,
  title,
  kind = 'quiet',
  keep = messages.confirm.cancel,
  disabledReason,
  children,
  onConfirm,
}: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const [state, setState] = useState<{ busy: boolean; problem: string }>({
    busy: false,
    problem: '',
  })

  async function confirm(): Promise<void> {
    setState({ busy: true, problem: '' })
    try {
      await onConfirm()
      dialog.current?.close()
      setState({ busy: false, problem: '' })
    } catch (error) {
      setState({ busy: false, problem: (error as Error).message })
    }
  }

  return (
    <>
      <Button
        size="small"
        kind={kind}
        disabledReason={disabledReason}
        onClick={() => dialog.current?.showModal()}
      >
        {label} <VisuallyHidden>{about}</VisuallyHidden>
      </Button>
      <ConfirmDialog ref={dialog} heading={heading} title={title}>
        <div>{children}</div>
        <div role="alert">{state.problem && <Notice tone="bad">{state.problem}</Notice>}</div>
        <div className={classes.choices}>
          <Button onClick={() => dialog.current?.close()}>{keep}</Button>
          <Button kind="danger" busy={state.busy} onClick={() => void confirm()}>
            {label}
          </Button>
        </div>
      </ConfirmDialog>
    </>
  )
}

type ConfirmDialogProps = {
  ref: RefObject<HTMLDialogElement | null>
  /** The id of the dialog's heading. */
  heading: string
  title: string
  /** Called when the dialog is closed, also by Escape. */
  onClose?: () => void
  children: ReactNode
}

/** A small dialog with a question, opened by `showModal()`. */
export function ConfirmDialog({ ref, heading, title, onClose, children }: ConfirmDialogProps) {
  return (
    <dialog ref={ref} className={classes.dialog} aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  )
}
