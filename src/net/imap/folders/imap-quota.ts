import { astring } from '../connection/command-encoding.ts'
import { ImapRefused } from '../connection/refusals.ts'
import { numberOf, stringOf, type Value } from '../connection/response.ts'
import type { Wire } from '../connection/wire.ts'

/** Storage of an account in bytes. */
export type MailboxQuota = { used: number; limit: number }

/**
 * Reads the storage quota of a mailbox (RFC 9208); null when the server reports none.
 * @throws ImapLost
 */
export async function readQuota(wire: Wire): Promise<MailboxQuota | null> {
  if (!wire.capabilities.has('QUOTA')) return null
  let quota: MailboxQuota | null = null
  const data = (values: Value[]) => {
    if (values[0] !== 'QUOTA') return values[0] === 'QUOTAROOT'
    quota = smallerQuota(quota, storageOf(values[2]))
    return true
  }
  try {
    await wire.run(['GETQUOTAROOT ', astring('INBOX')], { data })
    return quota
  } catch (error) {
    if (error instanceof ImapRefused) return null
    throw error
  }
}

/** `(STORAGE used limit MESSAGE used limit)`, storage in units of 1024 bytes. */
function storageOf(resources: Value | undefined): MailboxQuota | null {
  if (!Array.isArray(resources)) return null
  const at = resources.findIndex((name) => stringOf(name)?.toUpperCase() === 'STORAGE')
  const [used, limit] = [numberOf(resources[at + 1]), numberOf(resources[at + 2])]
  return at === -1 || used === null || limit === null
    ? null
    : { used: used * 1024, limit: limit * 1024 }
}

function smallerQuota(a: MailboxQuota | null, b: MailboxQuota | null): MailboxQuota | null {
  if (!a || !b) return a ?? b
  return a.limit - a.used < b.limit - b.used ? a : b
}
