import { storableFlags } from '../../../net/imap/append/flags-and-dates.ts'
import { formatUidSet } from '../../../net/imap/connection/command-encoding.ts'
import { describeRefusal, ImapRefused, isTemporary } from '../../../net/imap/connection/refusals.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { afterExpunges } from '../../../net/imap/fetch/retry-after-expunges.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import type { MigrationContext } from '../context.ts'
import { destinationView } from '../folder/destination-folder.ts'
import type { OpenFolder } from '../folder/open-folder.ts'
import { flagBits, flagsOf, readRecords, type CopyRecord } from '../journal/copy-records.ts'
import { parseUidSet } from '../journal/uid-set.ts'
import type { SyncedFolder } from './pass.ts'

/** UIDs per STORE command. */
const UIDS_PER_STORE = 500

/** A change of flags, and the copies that it is for. */
type Store = { change: string; copies: CopyRecord[] }

/**
 * Applies flags that were set or removed at the source since the last pass to our own copies. Flags
 * that were changed at the destination stay: only the difference at the source counts. `\Deleted`
 * is never set, because a client would then delete the copy. A server that rejects it does not fail
 * the migration; it is noted.
 * @throws ImapRefused for a temporary rejection, ImapLost
 */
export async function syncFlags(
  pair: ConnectionPair,
  at: OpenFolder,
  { changes, relocations }: SyncedFolder,
  folder: string,
  migration: MigrationContext,
): Promise<void> {
  const { folderState, destinationFolder } = at
  const { saved } = folderState
  const gone = parseUidSet(saved.gone ?? '')
  const present = new Map(changes?.flags)
  for (const [uid, { row }] of relocations ?? []) present.set(uid, row.flags)
  const records = relocations
    ? readRecords(await migration.journal.copies(folder, saved))
    : changes?.records
  const { permanentFlags } = destinationFolder.opened
  const stores = new Map<string, Store>()
  for (const [uid, now] of present) {
    const record = records?.get(uid)
    if (!record || record.to === 0 || gone.has(uid)) continue
    const flags = flagBits(now, folderState.keywords)
    for (const change of changesBetween(
      record.flags,
      flags,
      folderState.keywords,
      permanentFlags,
    )) {
      const store = stores.get(change) ?? { change, copies: [] }
      stores.set(change, store)
      store.copies.push({ ...record, flags })
    }
  }
  if (stores.size === 0) return
  try {
    const wire = await destinationView(pair, destinationFolder)
    await storeAll(wire, stores.values())
    const changed = new Map(
      [...stores.values()].flatMap(({ copies }) => copies.map((copy) => [copy.uid, copy])),
    )
    for (const copy of changed.values()) folderState.record(copy)
    if (migration.sync) migration.sync.changes.flags += changed.size
  } catch (error) {
    if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
    migration.note({
      folder,
      message: `Flags that changed at the source could not be changed at the destination: ${describeRefusal(error.refusal)}`,
    })
  }
}

/** The STORE items that make the one set of flags the other. */
function changesBetween(
  before: number,
  now: number,
  keywords: readonly string[],
  permanent: readonly string[] | null,
): string[] {
  const added = storableFlags(flagsOf((now & ~before) >>> 0, keywords), permanent).flags
  const removed = storableFlags(flagsOf((before & ~now) >>> 0, keywords), permanent).flags
  const set = added.filter((flag) => flag !== '\\Deleted')
  return [
    ...(set.length > 0 ? [`+FLAGS.SILENT (${set.join(' ')})`] : []),
    ...(removed.length > 0 ? [`-FLAGS.SILENT (${removed.join(' ')})`] : []),
  ]
}

async function storeAll(wire: Wire, stores: Iterable<Store>): Promise<void> {
  for (const { change, copies } of stores) {
    const uids = copies.map(({ to }) => to).toSorted((a, b) => a - b)
    for (let from = 0; from < uids.length; from += UIDS_PER_STORE) {
      const some = formatUidSet(uids.slice(from, from + UIDS_PER_STORE))
      await afterExpunges(wire, async () => wire.run([`UID STORE ${some} ${change}`]))
    }
  }
}
