import type { ButtonKind } from '../actions/button.tsx'

/** What can be done with selected rows. */
export type RowAction<T> = {
  /** A verb: “Check now”. */
  label: string
  kind?: ButtonKind
  /** Why the action is not available. */
  disabledReason?: string | undefined
  /** The rows of a selection that the action is for; all, if missing. */
  appliesTo?: (row: T) => boolean
  /** Asks before an action that cannot be undone. */
  confirm?: { title: (count: number) => string; text: string; keep?: string }
  /** Sends the request of one row; it fails with a message for people. */
  send?: (row: T) => Promise<unknown>
  /** Called once with all rows, for actions that can be undone; replaces `send`. */
  apply?: (rows: T[]) => void
  /** Called when all requests are answered. */
  onDone?: () => Promise<unknown>
  /** “2 of 30 hosts could not be checked”; a list of reasons follows. */
  failed?: (failed: number, all: number) => string
}
