import type { MigrationContext } from '../context.ts'
import { formatUidSet } from '../../../net/imap/connection/command-encoding.ts'
import { afterExpunges } from '../../../net/imap/fetch/retry-after-expunges.ts'
import { fetchMetadata, type Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import { storableFlags } from '../../../net/imap/append/flags-and-dates.ts'
import { ImapRefused, isTemporary, describeRefusal } from '../../../net/imap/connection/refusals.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { destinationView } from './destination-folder.ts'
import type { FolderCopier } from './folder-copier.ts'
import { messageIdOf } from '../identify/message-fingerprint.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import type { OpenFolder } from './open-folder.ts'
import { parseUidSet } from '../journal/uid-set.ts'

/** UIDs per STORE command. */
const UIDS_PER_STORE = 500

/**
 * Adds flags that messages of an earlier run got at the source since then. Changes only our own
 * copies, recognised by their Message-ID, and none that got a flag at the destination. It removes
 * no flag and never adds `\Deleted`. A server that rejects it does not fail the migration; it is
 * noted.
 * @throws ImapRefused for a temporary rejection, ImapLost
 */
export async function copyFlags(
  pair: ConnectionPair,
  at: OpenFolder,
  copier: FolderCopier,
  migration: MigrationContext,
): Promise<void> {
  const note = (message: string) => migration.note({ folder: copier.folder.path, message })
  try {
    const count = await bring(pair, at, copier)
    if (count > 0)
      note(`Flags that ${count} messages got at the source since the last time were added.`)
  } catch (error) {
    if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
    note(
      `Flags that changed at the source since the last time could not be added: ${describeRefusal(error.refusal)}`,
    )
  }
}

async function bring(pair: ConnectionPair, at: OpenFolder, copier: FolderCopier): Promise<number> {
  const { folderState, sourceModseq, knownBelow, destinationFolder } = at
  const since = folderState.saved.sourceModseq ?? null
  const first = parseUidSet(folderState.saved.copiedTo).first()
  if (since === null || sourceModseq === null || since === sourceModseq || first === undefined)
    return 0
  const isCopied = (uid: number) => folderState.isDone(uid) && !folderState.isExisting(uid)
  const changed = await byMessageId(
    fetchMetadata(await copier.reading(pair, at), 1, knownBelow - 1, since),
    isCopied,
  )
  if (changed.size === 0) return 0
  const wire = await destinationView(pair, destinationFolder)
  const { uidNext, permanentFlags } = await wire.reopen()
  const copies = await byMessageId(fetchMetadata(wire, first, (uidNext ?? 2 ** 32) - 1), (uid) =>
    folderState.isOwnCopy(uid),
  )
  const wanting = new Map<string, number[]>()
  for (const [id, source] of changed) {
    const copy = copies.get(id)
    const flags = source && copy ? flagsToAdd(source.flags, copy.flags, permanentFlags) : ''
    if (!copy || flags === '') continue
    const uids = wanting.get(flags) ?? []
    wanting.set(flags, uids)
    uids.push(copy.uid)
  }
  return store(wire, wanting)
}

/** Null for a Message-ID of two messages, because their copies cannot be told apart. */
async function byMessageId(
  rows: AsyncIterable<Metadata>,
  isWanted: (uid: number) => boolean,
): Promise<Map<string, Metadata | null>> {
  const found = new Map<string, Metadata | null>()
  for await (const row of rows) {
    const id = isWanted(row.uid) ? messageIdOf(row.messageIds) : null
    if (id !== null) found.set(id, found.has(id) ? null : row)
  }
  return found
}

function flagsToAdd(
  source: readonly string[],
  copy: readonly string[],
  permanent: readonly string[] | null,
): string {
  const lower = (flags: readonly string[]) => new Set(flags.map((flag) => flag.toLowerCase()))
  const [there, here] = [lower(copy), lower(source)]
  const isTouched = [...there].some(
    (flag) => flag.startsWith('\\') && flag !== '\\recent' && !here.has(flag),
  )
  if (isTouched) return ''
  const { flags } = storableFlags(source, permanent)
  return flags.filter((flag) => flag !== '\\Deleted' && !there.has(flag.toLowerCase())).join(' ')
}

async function store(wire: Wire, wanting: ReadonlyMap<string, number[]>): Promise<number> {
  let count = 0
  for (const [flags, uids] of wanting) {
    uids.sort((a, b) => a - b)
    for (let from = 0; from < uids.length; from += UIDS_PER_STORE) {
      const some = uids.slice(from, from + UIDS_PER_STORE)
      await afterExpunges(wire, async () =>
        wire.run([`UID STORE ${formatUidSet(some)} +FLAGS.SILENT (${flags})`]),
      )
      count += some.length
    }
  }
  return count
}
