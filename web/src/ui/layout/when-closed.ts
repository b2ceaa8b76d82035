import type { SyntheticEvent } from 'react'

/** The event comes after what closed the dialog, which may have been opened again by then. */
export function whenClosed(onClose: () => void) {
  return ({ currentTarget }: SyntheticEvent<HTMLDialogElement>) => {
    if (!currentTarget.open) onClose()
  }
}
