import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import { parseAbuseContact, type AbuseContact } from '../../protocols/abuse-contact.ts'
import type { Db } from '../../store/database.ts'
import { formatNetwork, parseNetwork } from '../../protocols/networks/network.ts'
import { CONTACT_LIFETIME_MS, LOOKUPS_PER_RUN, LOOKUP_SPACING_MS } from './limits.ts'
import { findContact, saveContact } from './abuse-mails.sql.ts'

/** ARIN redirects to the registry that an address belongs to. */
const RDAP_ORIGIN = 'https://rdap.arin.net'
const MAX_REDIRECTS = 3
const PREFIX_BITS = { 4: 24, 6: 48 } as const

export type ContactDeps = {
  db: Db
  clock: () => number
  request: GuardedFetch
  origins?: ReadonlyMap<string, string> | undefined
}

/** Finds abuse contacts, with few queries: one for each /24 or /48 in a week. */
export type Contacts = {
  /**
   * Null when the lookups of this run are used up, or the registry does not answer: try again later.
   */
  find(address: string, signal: AbortSignal): Promise<AbuseContact | null>
}

export function createContacts(deps: ContactDeps): Contacts {
  let left = LOOKUPS_PER_RUN
  return {
    async find(address, signal) {
      const prefix = prefixOf(address)
      const known = await findContact(deps.db, prefix, new Date(deps.clock() - CONTACT_LIFETIME_MS))
      if (known) return known
      if (left <= 0) return null
      if (left < LOOKUPS_PER_RUN) await pause(LOOKUP_SPACING_MS, undefined, { signal })
      left -= 1
      const contact = await lookUp(deps, address, signal)
      if (contact) await saveContact(deps.db, { prefix, ...contact }, new Date(deps.clock()))
      return contact
    },
  }
}

async function lookUp(
  { request, origins }: ContactDeps,
  address: string,
  signal: AbortSignal,
): Promise<AbuseContact | null> {
  const headers = { accept: 'application/rdap+json' }
  let url = `${origins?.get(RDAP_ORIGIN) ?? RDAP_ORIGIN}/registry/ip/${address}`
  try {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await request(url, { headers, signal })
      if (response.status === 404) return { network: address, email: null }
      if (response.ok)
        return parseAbuseContact(await response.text()) ?? { network: address, email: null }
      const location = response.headers.get('location')
      if (response.status < 301 || response.status > 308 || !location) return null
      if (!URL.canParse(location, url)) return null
      url = new URL(location, url).href
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
  }
  return null
}

function prefixOf(address: string): string {
  const network = parseNetwork(address)
  if (!network) return address
  const bits = PREFIX_BITS[network.family]
  const host = BigInt((network.family === 4 ? 32 : 64) - bits)
  return formatNetwork({ ...network, bits, start: (network.start >> host) << host })
}
