import { getDomain } from 'tldts'
import { classify } from '../../../net/address.ts'
import type { Blocklists } from '../../../protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../../../protocols/dnsbl/sweep-address.ts'
import { authorDomain, parseMessage } from '../../../protocols/mail/message.ts'
import type { Registration } from '../../../protocols/registration.ts'
import { DAY_MS } from '../../../time.ts'
import { ENGINE_TIMEOUT_MS } from '../../limits.ts'
import type { MailRow } from '../mail-tests.sql.ts'
import type { BackgroundFact } from './background-fact.ts'

export type FindBackground = (
  given: { mail: MailRow; content: Buffer },
  signal: AbortSignal,
) => Promise<BackgroundFact[]>

/** What an address sent for a domain, as the workspace’s DMARC reports say. */
type AddressUse = { domain: string; messages: number; passed: number; firstDay: string }

export type BackgroundDeps = {
  blocklists: Blocklists
  /** The registration of a registered domain, or why it is not known. */
  lookUpRegistration: (
    domain: string,
    signal: AbortSignal,
  ) => Promise<
    | { status: 'found'; registration: Registration }
    | { status: 'not-available' | 'failed'; reason: string }
  >
  addressUses: (
    workspaceId: string,
    addresses: { first: string; last: string },
  ) => Promise<AddressUse[]>
}

/** Finds what may explain mail in spam although every check passes. */
export function createFindBackground(deps: BackgroundDeps): FindBackground {
  return async ({ mail, content }, outer) => {
    const signal = AbortSignal.any([outer, AbortSignal.timeout(ENGINE_TIMEOUT_MS)])
    const from = authorDomain(parseMessage(content.subarray(0, MAX_HEADER_BYTES)))
    const domain = from === null ? null : (getDomain(from) ?? from)
    const uses =
      mail.ip === null
        ? []
        : await deps.addressUses(mail.workspaceId, { first: mail.ip, last: mail.ip })
    const [domainAge, neighbors] = await Promise.all([
      findDomainAge(domain, deps, signal),
      findNeighbors(mail.ip, deps.blocklists, signal),
    ])
    return [
      domainAge,
      describeAddressAge(mail.ip, uses),
      neighbors,
      describeFailures(mail.ip, domain, uses),
    ]
  }
}

const MAX_HEADER_BYTES = 256 * 1024

/** Days for which receivers treat a domain or an address as new. */
const NEW_DAYS = 30
const YOUNG_DAYS = 90

const days = (since: Date) => Math.floor((Date.now() - since.getTime()) / DAY_MS)

async function findDomainAge(
  domain: string | null,
  { lookUpRegistration }: BackgroundDeps,
  signal: AbortSignal,
): Promise<BackgroundFact> {
  const fact = { id: 'domain-age', title: 'Age of the domain' } as const
  if (domain === null) return { ...fact, state: 'unknown', sentence: 'From has no single domain.' }
  const found = await lookUpRegistration(domain, signal)
  if (found.status !== 'found') return { ...fact, state: 'unknown', sentence: found.reason }
  const { registeredAt } = found.registration
  if (registeredAt === null)
    return {
      ...fact,
      state: 'unknown',
      sentence: `The registry does not publish since when ${domain} is registered.`,
    }
  const age = days(registeredAt)
  const since = `${domain} was registered ${age.toLocaleString('en')} days ago.`
  if (age >= YOUNG_DAYS) return { ...fact, state: 'good', sentence: since }
  const advice =
    age < NEW_DAYS
      ? 'Many receivers distrust domains in their first month. Send little, to people who expect it.'
      : 'Receivers know little about it yet. Raise the volume slowly.'
  return { ...fact, state: 'notice', sentence: `${since} ${advice}` }
}

function describeAddressAge(ip: string | null, uses: AddressUse[]): BackgroundFact {
  const fact = { id: 'address-age', title: 'Age of the address here' } as const
  if (ip === null)
    return { ...fact, state: 'unknown', sentence: 'The sending address is not known.' }
  const first = uses.map(({ firstDay }) => firstDay).toSorted()[0]
  if (first === undefined)
    return {
      ...fact,
      state: 'unknown',
      sentence: `No DMARC report of this workspace in the last 12 months names ${ip}. Receivers may not know it either.`,
    }
  const age = days(new Date(first))
  const sentence = `DMARC reports name ${ip} since ${first}.`
  return age >= NEW_DAYS
    ? { ...fact, state: 'good', sentence }
    : {
        ...fact,
        state: 'notice',
        sentence: `${sentence} A new address has no reputation: raise its volume over weeks.`,
      }
}

/** Neighbors that are looked up on each side. */
const NEIGHBORS = 8

/** Lists that say something about senders, each of which answers for one address. */
const NEIGHBOR_ZONES = ['zen.spamhaus.org', 'bl.spamcop.net']

async function findNeighbors(
  ip: string | null,
  blocklists: Blocklists,
  signal: AbortSignal,
): Promise<BackgroundFact> {
  const fact = { id: 'neighbors', title: 'Neighbors on blocklists' } as const
  const lists = blocklists.lists.filter(({ zone }) => NEIGHBOR_ZONES.includes(zone))
  const addresses = ip === null ? [] : neighborsOf(ip)
  if (addresses.length === 0 || lists.length === 0)
    return {
      ...fact,
      state: 'unknown',
      sentence: 'The neighbors of the sending address are not checked.',
    }
  const results = await Promise.all(
    addresses.map(async (address) => {
      const listings = await sweepAddress(address, blocklists, signal, { lists })
      // Entries of a policy say that a network is for customers, not that it sends spam.
      const isListed = listings.some(
        ({ status, meanings }) =>
          status === 'listed' && !meanings.every((text) => text.startsWith('PBL')),
      )
      return isListed
        ? 'listed'
        : listings.some(({ status }) => status === 'clean')
          ? 'clean'
          : 'unknown'
    }),
  )
  const on = results.filter((result) => result === 'listed').length
  const answered = results.filter((result) => result !== 'unknown').length
  if (answered === 0)
    return {
      ...fact,
      state: 'unknown',
      sentence: 'The blocklists did not answer about the neighbors.',
    }
  const sentence = `${on} of ${answered} addresses around ${ip} are on ${lists.map(({ name }) => name).join(' or ')}.`
  return on >= 3
    ? {
        ...fact,
        state: 'notice',
        sentence: `${sentence} Receivers also judge the network: ask your provider for an address elsewhere.`,
      }
    : { ...fact, state: 'good', sentence }
}

/** The nearest addresses within the same /24; none for IPv6, whose neighbors say little. */
function neighborsOf(ip: string): string[] {
  if (ip.includes(':') || !classify(ip).public) return []
  const octets = ip.split('.').map(Number)
  const last = octets[3] ?? 0
  return Array.from({ length: 2 * NEIGHBORS + 1 }, (_, index) => last - NEIGHBORS + index)
    .filter((octet) => octet > 0 && octet < 255 && octet !== last)
    .map((octet) => [...octets.slice(0, 3), octet].join('.'))
}

function describeFailures(
  ip: string | null,
  domain: string | null,
  uses: AddressUse[],
): BackgroundFact {
  const fact = { id: 'dmarc-failures', title: 'DMARC of this sender' } as const
  const own = uses.filter(
    (use) => domain !== null && (use.domain === domain || use.domain.endsWith(`.${domain}`)),
  )
  const messages = own.reduce((sum, use) => sum + use.messages, 0)
  if (messages === 0)
    return {
      ...fact,
      state: 'unknown',
      sentence: 'No DMARC report says how receivers saw mail of this sender.',
    }
  const failures = messages - own.reduce((sum, use) => sum + use.passed, 0)
  const percent = Math.round((failures / messages) * 1000) / 10
  const sentence = `${failures.toLocaleString('en')} of ${messages.toLocaleString('en')} messages from ${ip} for ${domain} failed DMARC in the last 12 months (${percent}%).`
  return { ...fact, state: percent >= 2 ? 'notice' : 'good', sentence }
}
