import { Fault } from '../../errors.ts'
import { refusalOf } from '../../mail-credentials/mailbox-sign-in.ts'
import { ImapLost } from '../../net/imap/connection/refusals.ts'

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

/** The stable code of an error in reports. */
export function codeOf(error: unknown): string {
  if (error instanceof Stop || error instanceof Fault) return error.code
  return refusalOf(error)?.kind ?? (error instanceof ImapLost ? 'connection_lost' : 'internal')
}
