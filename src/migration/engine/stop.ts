import { Fault } from '../../errors.ts'
import { ImapLost, ImapRefused } from '../../net/imap/connection/refusals.ts'

/** Why a whole migration, or one folder, cannot go on: a stable word and a sentence. */
export class Stop extends Error {
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'Stop'
    this.code = code
  }
}

/** A failure that belongs to one folder; the others go on. */
export class FolderStop extends Stop {}

/** The folder is no longer what it was when it was opened: it must be opened anew. */
export class Reopen extends FolderStop {
  constructor(message: string) {
    super('folder_changed', message)
  }
}

/** What a failed sign-in was about; null when it was no refusal of the server's. */
export function refusalOf(error: unknown) {
  if (error instanceof ImapRefused || error instanceof ImapLost) return error.refusal
  return error instanceof Fault && error.cause instanceof ImapRefused ? error.cause.refusal : null
}

/** The word under which an error is reported. */
export function codeOf(error: unknown): string {
  if (error instanceof Stop || error instanceof Fault) return error.code
  return refusalOf(error)?.kind ?? (error instanceof ImapLost ? 'connection_lost' : 'internal')
}
