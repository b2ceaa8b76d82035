import { astring } from './encode.ts'
import { status } from './mailbox.ts'
import type { ByteString } from './mailbox-name.ts'
import { ImapRefused, mayPass } from './refusals.ts'
import { numberOf, type Value } from './response.ts'
import type { Wire } from './wire.ts'

/**
 * Makes sure that a folder is there.
 * @param name encoded; the server makes the parents
 * @throws ImapRefused, ImapLost
 */
export async function createFolder(wire: Wire, name: ByteString): Promise<'created' | 'existed'> {
  try {
    await wire.run(['CREATE ', astring(name)])
    return 'created'
  } catch (error) {
    if (!(error instanceof ImapRefused) || mayPass(error.refusal)) throw error
    if (error.refusal.kind === 'already_exists' || (await exists(wire, name))) return 'existed'
    throw error
  }
}

/** Not every server says ALREADYEXISTS. */
async function exists(wire: Wire, name: ByteString): Promise<boolean> {
  try {
    await status(wire, name)
    return true
  } catch (error) {
    if (error instanceof ImapRefused) return false
    throw error
  }
}

/**
 * Shows a folder in the user's mail programs. A server that has no subscriptions does not matter.
 * @returns whether the server did
 * @throws ImapLost
 */
export async function subscribe(wire: Wire, name: ByteString): Promise<boolean> {
  try {
    await wire.run(['SUBSCRIBE ', astring(name)])
    return true
  } catch (error) {
    if (error instanceof ImapRefused) return false
    throw error
  }
}

/** Bytes. */
export type Quota = { used: number; limit: number }

/**
 * What still fits (RFC 9208); null where the server does not say or has no limit.
 * @throws ImapLost
 */
export async function readQuota(wire: Wire, name: ByteString = 'INBOX'): Promise<Quota | null> {
  if (!wire.capabilities.has('QUOTA')) return null
  let quota: Quota | null = null
  const data = (values: Value[]) => {
    if (values[0] !== 'QUOTA') return values[0] === 'QUOTAROOT'
    quota = tighter(quota, storageOf(values[2]))
    return true
  }
  try {
    await wire.run(['GETQUOTAROOT ', astring(name)], { data })
    return quota
  } catch (error) {
    if (error instanceof ImapRefused) return null
    throw error
  }
}

/** `(STORAGE used limit MESSAGE used limit)`, storage in units of 1024 bytes. */
function storageOf(resources: Value | undefined): Quota | null {
  if (!Array.isArray(resources)) return null
  const at = resources.indexOf('STORAGE')
  const [used, limit] = [numberOf(resources[at + 1]), numberOf(resources[at + 2])]
  return at === -1 || used === null || limit === null ? null : { used: used * 1024, limit: limit * 1024 }
}

function tighter(a: Quota | null, b: Quota | null): Quota | null {
  if (!a || !b) return a ?? b
  return a.limit - a.used < b.limit - b.used ? a : b
}
