import { readQuota } from '../../../net/imap/folders/quota.ts'
import { astring } from '../../../net/imap/connection/command-encoding.ts'
import { afterExpunges } from '../../../net/imap/fetch/retry-after-expunges.ts'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import { examine } from '../../../net/imap/folders/mailbox.ts'
import type { ByteString } from '../../../net/imap/folders/mailbox-name.ts'
import { ImapRefused } from '../../../net/imap/connection/refusals.ts'
import { numberOf, pairsOf, type Value } from '../../../net/imap/connection/response.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'

/**
 * The free space of the destination in bytes; null without a quota.
 * @throws ImapLost
 */
export async function freeBytesOf(to: Wire): Promise<number | null> {
  const quota = await readQuota(to)
  return quota && Math.max(0, quota.limit - quota.used)
}

/**
 * Measures the bytes to copy, by path as far as they are known. A source that does not report sizes
 * is asked for the size of each message only where the result affects a warning.
 * @throws ImapLost
 */
export async function measureSizes(
  from: Wire,
  folders: readonly Folder[],
  freeBytes: number | null,
  { sizes, options }: { sizes?: ReadonlyMap<string, number>; options?: { dryRun?: boolean } },
): Promise<ReadonlyMap<string, number>> {
  if (sizes) return sizes
  const isWorthIt = tellsSizes(from) || freeBytes !== null || options?.dryRun === true
  return isWorthIt ? sizesOf(from, folders) : new Map()
}

/**
 * Returns bytes by path, without folders whose size the server does not report. Opens mailboxes.
 * @throws ImapLost
 */
export async function sizesOf(
  wire: Wire,
  folders: readonly Folder[],
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const take = async ({ path, pathAsListed, messages, status }: Folder) => {
    const bytes = messages === 0 ? 0 : (status?.size ?? (await sizeOf(wire, pathAsListed)))
    if (bytes !== null) sizes.set(path, bytes)
  }
  if (tellsSizes(wire)) await Promise.all(folders.map(take))
  // A folder must be open while the sizes of its messages are fetched.
  else for (const folder of folders) await take(folder)
  return sizes
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
