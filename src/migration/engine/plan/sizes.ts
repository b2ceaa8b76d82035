import { readQuota } from '../../../net/imap/folders/imap-quota.ts'
import { astring } from '../../../net/imap/connection/command-encoding.ts'
import { afterExpunges } from '../../../net/imap/fetch/retry-after-expunges.ts'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import { examine } from '../../../net/imap/folders/mailbox.ts'
import type { ByteString } from '../../../net/imap/folders/mailbox-name.ts'
import { ImapLost, ImapRefused } from '../../../net/imap/connection/refusals.ts'
import type { Session } from '../../../net/imap/connection/imap-session.ts'
import { numberOf, pairsOf, type Value } from '../../../net/imap/connection/response.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'

/**
 * The free space of the destination in bytes; null without a quota, and where the connection ends
 * instead: it is asked for once, because only a warning needs it.
 * @throws errors of `session`
 */
export async function freeBytesOf(session: () => Promise<Session>): Promise<number | null> {
  const { wire } = await session()
  try {
    const quota = await readQuota(wire)
    return quota && Math.max(0, quota.limit - quota.used)
  } catch (error) {
    if (!(error instanceof ImapLost) || error.reason === 'ours') throw error
    return null
  }
}

/**
 * Measures the bytes to copy, by path as far as they are known. A source that does not report sizes
 * is asked for the size of each message only where the result affects a warning.
 * @param session returns a new session where the last one is lost
 * @throws ImapLost
 */
export async function measureSizes(
  session: () => Promise<Session>,
  folders: readonly Folder[],
  freeBytes: number | null,
  { sizes, options }: { sizes?: ReadonlyMap<string, number>; options?: { dryRun?: boolean } },
): Promise<ReadonlyMap<string, number>> {
  if (sizes) return sizes
  const { wire } = await session()
  const isWorthIt = tellsSizes(wire) || freeBytes !== null || options?.dryRun === true
  return isWorthIt ? sizesOf(session, folders) : new Map()
}

/** Folders at which connections may break before no further sizes are requested. */
const MAX_LOSSES = 3

/**
 * Returns bytes by path, without folders whose size the server does not report, or at which it ends
 * the connection. Opens mailboxes.
 * @param session returns a new session where the last one is lost
 * @throws errors of `session`
 */
export async function sizesOf(
  session: () => Promise<Session>,
  folders: readonly Folder[],
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const asked: Folder[] = []
  for (const folder of folders) {
    const known = folder.messages === 0 ? 0 : folder.status?.size
    if (known === undefined || known === null) asked.push(folder)
    else sizes.set(folder.path, known)
  }
  const take = async (wire: Wire, { path, pathAsListed }: Folder) => {
    const bytes = await sizeOf(wire, pathAsListed)
    if (bytes !== null) sizes.set(path, bytes)
  }
  const { wire } = await session()
  const left = tellsSizes(wire) ? await takeTogether(wire, asked, take) : asked
  let losses = 0
  // A folder must be open while the sizes of its messages are fetched.
  for (const folder of left) {
    const { wire: open } = await session()
    try {
      await take(open, folder)
    } catch (error) {
      if (!(error instanceof ImapLost) || error.reason === 'ours') throw error
      losses += 1
      if (losses > MAX_LOSSES) break
    }
  }
  return sizes
}

/** Returns the folders that have no answer because the connection was lost. */
async function takeTogether(
  wire: Wire,
  folders: readonly Folder[],
  take: (wire: Wire, folder: Folder) => Promise<void>,
): Promise<Folder[]> {
  const results = await Promise.allSettled(folders.map((folder) => take(wire, folder)))
  const failed = results.find(
    (result) => result.status === 'rejected' && !(result.reason instanceof ImapLost),
  )
  if (failed?.status === 'rejected') throw failed.reason
  return folders.filter((_, index) => results[index]?.status === 'rejected')
}

/** Whether the server supports STATUS=SIZE (RFC 8438). */
function tellsSizes({ capabilities }: Wire): boolean {
  return capabilities.has('STATUS=SIZE')
}

async function sizeOf(wire: Wire, name: ByteString): Promise<number | null> {
  try {
    return tellsSizes(wire) ? await askSize(wire, name) : await addUp(wire, name)
  } catch (error) {
    if (error instanceof ImapRefused) return null
    throw error
  }
}

async function askSize(wire: Wire, name: ByteString): Promise<number | null> {
  let bytes: number | null = null
  await wire.run(['STATUS ', astring(name), ' (SIZE)'], {
    about: name,
    data(values) {
      if (values[0] !== 'STATUS') return false
      bytes = numberOf(pairsOf(values[2]).get('SIZE'))
      return true
    },
  })
  return bytes
}

async function addUp(wire: Wire, name: ByteString): Promise<number> {
  let bytes = 0
  if ((await examine(wire, name)).exists === 0) return bytes
  const data = (values: Value[]) => {
    if (values[1] !== 'FETCH') return false
    bytes += numberOf(pairsOf(values[2]).get('RFC822.SIZE')) ?? 0
    return true
  }
  await afterExpunges(wire, async () => {
    bytes = 0
    return wire.run(['UID FETCH 1:* (RFC822.SIZE)'], { data })
  })
  return bytes
}
