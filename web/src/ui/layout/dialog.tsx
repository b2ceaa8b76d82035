import type { ReactNode, RefObject } from 'react'
import classes from './dialog.module.css'
import { whenClosed } from './when-closed.ts'

type DialogProps = {
  ref: RefObject<HTMLDialogElement | null>
  label: string
  /** Called when it was closed, also by Escape or a press beside it; not when it is open again. */
  onClose?: () => void
  children: ReactNode
}

/**
 * A sheet over the page, opened by `showModal()`. The browser's own keeps the focus inside and
 * gives it back.
 */
export function Dialog({ ref, label, onClose, children }: DialogProps) {
  return (
    <dialog
      ref={ref}
      className={classes.dialog}
      aria-label={label}
      onClose={whenClosed(() => onClose?.())}
      onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}
    >
      <div className={classes.content}>{children}</div>
    </dialog>
  )
}
