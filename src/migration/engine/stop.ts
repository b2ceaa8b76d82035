import { Fault } from '../../errors.ts'
import { ImapLost, ImapRefused } from '../../net/imap/connection/refusals.ts'

/** The reason that ends a migration or a folder: a stable code and a sentence. */
export class Stop extends Error {
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'Stop'
    this.code = code
  }
}

/** Ends one folder; the others continue. */
export class FolderStop extends Stop {}

/** Thrown when a folder has changed since it was opened and must be opened again. */
export class Reopen extends FolderStop {
  constructor(message: string) {
    super('folder_changed', message)
  }
}

/** The server’s response to a failed sign-in; null for any other error. */
export function refusalOf(error: unknown) {
  if (error instanceof ImapRefused || error instanceof ImapLost) return error.refusal
  return error instanceof Fault && error.cause instanceof ImapRefused ? error.cause.refusal : null
}

/** The stable code of an error in reports. */
export function codeOf(error: unknown): string {
  if (error instanceof Stop || error instanceof Fault) return error.code
  return refusalOf(error)?.kind ?? (error instanceof ImapLost ? 'connection_lost' : 'internal')
}
