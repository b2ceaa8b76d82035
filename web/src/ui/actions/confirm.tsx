import { useId, useRef, useState, type ReactNode, type RefObject } from 'react'
import { Button, type ButtonKind } from './button.tsx'
import classes from './confirm.module.css'
import { VisuallyHidden } from '../text/visually-hidden.tsx'
import { Notice } from '../feedback/notice.tsx'

type ConfirmProps = {
  /** The button that asks, and the one that does. */
  label: string
  /** What the label is said of, for those who hear the button alone. */
  about: string
  title: string
  kind?: ButtonKind
  /** What it says instead of “Keep it”, where nothing is kept. */
  keep?: string
  children: ReactNode
  onConfirm: () => Promise<void>
}

/** A button for what cannot be undone: it asks first. The browser's own dialog keeps the focus inside and takes Escape. */
export function ConfirmButton({
  label,
  about,
  title,
  kind = 'quiet',
  keep = 'Keep it',
  children,
  onConfirm,
}: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const [state, setState] = useState<{ busy: boolean; problem: string }>({ busy: false, problem: '' })

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
      <Button size="small" kind={kind} onClick={() => dialog.current?.showModal()}>
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
  /** The id of its heading. */
  heading: string
  title: string
  /** Called when it was closed, also by Escape. */
  onClose?: () => void
  children: ReactNode
}

/** A small dialog that asks something before going on, opened by `showModal()`. */
export function ConfirmDialog({ ref, heading, title, onClose, children }: ConfirmDialogProps) {
  return (
    <dialog ref={ref} className={classes.dialog} aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  )
}
