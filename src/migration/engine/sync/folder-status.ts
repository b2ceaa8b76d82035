import { createHash } from 'node:crypto'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'

/**
 * What a source reports about a folder. As long as it is the same, nothing has changed in the
 * folder.
 */
export type FolderStatus = {
  uidValidity: number | null
  uidNext: number | null
  messages: number | null
  /** The highest modification sequence (RFC 7162); null where the source has none. */
  modseq: string | null
  /** A digest of all flags, where the source has no modification sequences. */
  flags: string | null
}

/** The status of a folder as it was listed. */
export function statusOf({ status }: Folder): FolderStatus {
  return {
    uidValidity: status?.uidValidity ?? null,
    uidNext: status?.uidNext ?? null,
    messages: status?.messages ?? null,
    modseq: status?.modseq ?? null,
    flags: null,
  }
}

/** Whether two statuses prove that nothing has changed in between. */
export function isSameStatus(a: FolderStatus | null | undefined, b: FolderStatus): boolean {
  if (!a || !isTelling(b)) return false
  return textOf(a) === textOf(b)
}

/** Whether a change of the folder would change the status. */
function isTelling({ uidValidity, uidNext, messages, modseq, flags }: FolderStatus): boolean {
  const isFlagged = modseq !== null || flags !== null
  return uidValidity !== null && uidNext !== null && messages !== null && isFlagged
}

function textOf({ uidValidity, uidNext, messages, modseq, flags }: FolderStatus): string {
  return [uidValidity, uidNext, messages, modseq, flags].join(' ')
}

/**
 * A digest of the statuses of all folders: the same digest proves that nothing has changed in the
 * mailbox. Null where the source reports too little.
 */
export function digestOfStatuses(statuses: ReadonlyMap<string, FolderStatus>): string | null {
  if (![...statuses.values()].every(isTelling)) return null
  const lines = [...statuses].map(([path, status]) => `${textOf(status)} ${path}`).toSorted()
  return createHash('sha256').update(lines.join('\n')).digest('base64url')
}

/** A digest of the flags of all messages of a folder, by UID. */
export function digestOfFlags(flags: ReadonlyMap<number, readonly string[]>): string {
  const sum = createHash('sha256')
  for (const [uid, each] of [...flags].toSorted(([a], [b]) => a - b)) {
    const known = each.map((flag) => flag.toLowerCase()).filter((flag) => flag !== '\\recent')
    sum.update(`${uid} ${known.toSorted().join(' ')}\n`)
  }
  return sum.digest('base64url')
}
