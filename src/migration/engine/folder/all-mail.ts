import type { FolderCopy } from '../context.ts'
import { afterExpunges } from '../../../net/imap/fetch/retry-after-expunges.ts'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import { objectIdAttribute, objectIdOf } from '../../../net/imap/fetch/object-id.ts'
import { numberOf, pairsOf, type Value } from '../../../net/imap/connection/response.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'

/**
 * Whether a folder shows the messages of all others (RFC 6154, `\All`), such as Gmail’s “All Mail”.
 */
export function isAllMail({ specialUse }: Pick<Folder, 'specialUse'>): boolean {
  return specialUse === '\\All'
}

/**
 * Lists messages of a folder that were copied with another folder. Only a server with message
 * identifiers can tell (X-GM-MSGID of Gmail, EMAILID of RFC 8474); otherwise none are listed.
 * @param others folders that were copied before; messages they do not have are not left to them
 * @throws ImapRefused, ImapLost
 */
export async function listCopiedElsewhere(
  pair: ConnectionPair,
  folder: Folder,
  uidNext: number,
  others: readonly FolderCopy[],
): Promise<{ uid: number; size: number }[]> {
  const elsewhere = new Set<string>()
  for (const { folder: other, folderState } of others) {
    if (!folderState) continue
    await identities(
      await pair.sourceFolder(other.pathAsListed),
      folderState.saved.sourceUidNext,
      ({ uid, id }) => folderState.isDone(uid) && elsewhere.add(id),
    )
  }
  const shown: { uid: number; size: number }[] = []
  if (elsewhere.size === 0) return shown
  await identities(
    await pair.sourceFolder(folder.pathAsListed),
    uidNext,
    ({ uid, id, size }) => elsewhere.has(id) && shown.push({ uid, size }),
  )
  return shown
}

type Identity = { uid: number; id: string; size: number }

async function identities(
  wire: Wire,
  uidNext: number,
  take: (identity: Identity) => void,
): Promise<void> {
  const attribute = objectIdAttribute(wire)
  if (attribute === undefined || uidNext <= 1) return
  const data = (values: Value[]) => {
    const pairs = values[1] === 'FETCH' ? pairsOf(values[2]) : new Map<string, Value>()
    const [uid, id] = [numberOf(pairs.get('UID')), objectIdOf(pairs)]
    if (uid === null || id === null) return false
    take({ uid, id, size: numberOf(pairs.get('RFC822.SIZE')) ?? 0 })
    return true
  }
  const command = `UID FETCH 1:${uidNext - 1} (UID RFC822.SIZE ${attribute})`
  await afterExpunges(wire, async () => wire.run([command], { data }))
}
