import { fetchBodies } from '../../../net/imap/fetch/fetch-bodies.ts'
import { fetchMetadata, type Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import { withDigest } from '../folder/body-digest.ts'
import { recordOf, type CopyRecord } from '../journal/copy-records.ts'
import type { Deletion } from '../journal/deletions.ts'
import type { SavedFolder } from '../journal/journal.ts'
import { ProcessedMessages } from '../journal/processed-messages.ts'
import type { Relocation } from './pass.ts'
import { unlessUnreadable } from './unless-unreadable.ts'

/** A folder with new messages. */
export type ChangedFolder = { folder: Folder; saved: SavedFolder | null; uidNext: number }

/**
 * Finds new messages that were copied before, from where they are no longer: by the identifier of
 * the source (RFC 8474), otherwise by Message-ID, size and date. A message without Message-ID, or with
 * another size or date after the source has given the folder new UIDs, must have the same bytes.
 * @returns relocations by folder of the source and UID
 * @throws ImapRefused, ImapLost
 */
export async function findMoves(
  pair: ConnectionPair,
  folders: readonly ChangedFolder[],
  deletions: readonly Deletion[],
): Promise<Map<string, Map<number, Relocation>>> {
  const moves = new Map<string, Map<number, Relocation>>()
  const lost = createDeletionIndex(deletions)
  for (const { folder, saved, uidNext } of folders) {
    const [from, to] = [(saved?.lastUid ?? 0) + 1, uidNext - 1]
    if (from > to || lost.size === 0) continue
    const processed = saved && new ProcessedMessages(saved)
    const source = await pair.sourceFolder(folder.pathAsListed)
    const found = new Map<number, Relocation>()
    const doubtful: Relocation[] = []
    // Without a second attempt: each deletion is taken once.
    await unlessUnreadable(
      folder.pathAsListed,
      async () => {
        for await (const row of fetchMetadata(source, from, to)) {
          if (processed?.has(row.uid)) continue
          const deletion = lost.take(row, folder.path)
          if (!deletion) continue
          if (isCertain(row, deletion)) found.set(row.uid, { row, deletion })
          else doubtful.push({ row, deletion })
        }
        for (const relocation of await withSameBytes(source, doubtful))
          found.set(relocation.row.uid, relocation)
      },
      1,
    )
    if (found.size > 0) moves.set(folder.path, found)
  }
  return moves
}

/** A Message-ID alone is no identity: a draft keeps it when its text changes. */
function isCertain(row: Metadata, { record }: Deletion): boolean {
  const { objectId, messageId, size, date } = recordOf(
    row,
    { to: 0, size: row.size ?? 0, digest: null },
    [],
  )
  const isSameObject = objectId.length > 0 && objectId.equals(record.objectId)
  const isAlike = size === record.size && date === record.date
  return isSameObject || (messageId.length > 0 && isAlike)
}

async function withSameBytes(source: Wire, doubtful: readonly Relocation[]): Promise<Relocation[]> {
  const byUid = new Map(doubtful.map((relocation) => [relocation.row.uid, relocation]))
  const same: Relocation[] = []
  if (byUid.size === 0) return same
  for await (const row of fetchBodies(
    source,
    doubtful.map(({ row: { uid, size } }) => ({ uid, size })),
  )) {
    const relocation = byUid.get(row.uid)
    if (row.state !== 'here' || !relocation) continue
    const { body, digest } = withDigest(row.body)
    if (!Buffer.isBuffer(body)) for await (const _ of body);
    if (digest().equals(relocation.deletion.record.digest)) same.push(relocation)
  }
  return same
}

/** Deletions by what identifies their messages. Each is taken once. */
function createDeletionIndex(deletions: readonly Deletion[]) {
  const byKey = new Map<string, Deletion[]>()
  const left = new Set(deletions)
  for (const deletion of deletions)
    for (const key of keysOf(
      deletion.record,
      deletion.reason === 'renumbered' && deletion.folder,
    )) {
      const known = byKey.get(key) ?? []
      byKey.set(key, known)
      known.push(deletion)
    }
  return {
    get size() {
      return left.size
    },
    take(row: Metadata, folder: string): Deletion | undefined {
      const record = recordOf(row, { to: 0, size: row.size ?? 0, digest: null }, [])
      for (const key of keysOf(record, folder)) {
        const deletion = byKey.get(key)?.find((each) => left.has(each))
        if (deletion && left.delete(deletion)) return deletion
      }
      return undefined
    },
  }
}

/**
 * The best key first.
 * @param renumbered the folder in which its Message-ID alone identifies a message
 */
function keysOf(
  { objectId, messageId, size, date }: CopyRecord,
  renumbered: string | false,
): string[] {
  const [object, id] = [objectId.toString('hex'), messageId.toString('hex')]
  const keys = [`content ${id} ${size} ${date}`]
  if (object !== '') keys.unshift(`object ${object}`)
  if (renumbered !== false && id !== '') keys.push(`id ${id} ${renumbered}`)
  return keys
}
