import { DAY_MS, isoDay } from '../../time.ts'
import { dataOf, endpointName, type Resolver } from '../../net/dns.ts'
import type { Blocklists } from '../../protocols/dnsbl/blocklists.ts'
import { checkResolverHealth } from '../blacklist.ts'

/** The result for one part of the service, with the fix in `sentence`. */
export type Finding = { about: string; state: 'good' | 'doubtful' | 'bad'; sentence: string }

const finding =
  (state: Finding['state']) =>
  (about: string, sentence: string): Finding => ({ about, state, sentence })
export const good = finding('good')
export const doubtful = finding('doubtful')
export const bad = finding('bad')

/** Milliseconds for a question every resolver can answer. */
const RESOLVER_TIMEOUT_MS = 5_000

/** Seconds between our clock and the database's beyond which one of them is wrong. */
const CLOCK_TOLERANCE_SECONDS = 5

/** Whether names can be resolved. */
export async function checkResolver(resolver: Resolver): Promise<Finding> {
  const servers = resolver.servers.map(endpointName).join(', ')
  const answer = await resolver.query('.', 'NS', AbortSignal.timeout(RESOLVER_TIMEOUT_MS))
  if (answer.status === 'NOERROR')
    return good('DNS', `${servers} answers in ${Math.round(answer.ms)} ms.`)
  const why = answer.status === 'FAILED' ? answer.failure : answer.status
  return bad(
    'DNS',
    `${servers} cannot resolve names (${why}). Set DNS_SERVERS to a working resolver.`,
  )
}

/** Whether the critical blocklists answer this resolver correctly. */
export async function checkBlocklists(blocklists: Blocklists): Promise<Finding[]> {
  const { lists, warnings } = await checkResolverHealth(blocklists)
  if (warnings.length === 0)
    return [good('blacklists', `All ${lists.length} critical blocklists answer this resolver.`)]
  if (lists.some(({ health }) => health.state === 'healthy' || health.state === 'refusing')) {
    return warnings.map((sentence) => doubtful('blacklists', sentence))
  }
  const servers = blocklists.resolver.servers.map(endpointName).join(', ')
  const sentence = `No critical blocklist answers through ${servers}, so the resolver is the cause. Set DNSBL_SERVERS to a recursive resolver of your own, such as Unbound.`
  return [bad('blacklists', sentence)]
}

/** Days that a resolver may keep the root zone: the expire field of its SOA record. */
const ROOT_ZONE_DAYS = 7

/**
 * Compares the date with that of the root zone, which is published twice a day: its serial number
 * is YYYYMMDDNN. A clock beside an embedded database has nothing else to be compared with.
 */
export async function checkDate(resolver: Resolver): Promise<Finding[]> {
  const answer = await resolver.query('.', 'SOA', AbortSignal.timeout(RESOLVER_TIMEOUT_MS))
  const [, year, month, day] =
    /^(\d{4})(\d\d)(\d\d)\d\d$/.exec(`${dataOf(answer, 'SOA')[0]?.serial}`) ?? []
  if (year === undefined) return []
  const published = `${year}-${month}-${day}`
  const days = (Date.now() - Date.parse(published)) / DAY_MS
  if (days > -1 && days < ROOT_ZONE_DAYS + 1)
    return [good('clock', 'The date agrees with that of the DNS root zone.')]
  const today = isoDay(Date.now())
  const what = `The clock shows ${today}, but the DNS root zone is of ${published}.`
  return [bad('clock', `${what} Turn on NTP, for example with “timedatectl set-ntp true”.`)]
}

export function checkClock(theirs: Date): Finding {
  const apart = Math.abs(theirs.getTime() - Date.now()) / 1000
  if (apart <= CLOCK_TOLERANCE_SECONDS)
    return good('clock', 'The clocks of this machine and the database agree.')
  return bad(
    'clock',
    `The clocks of this machine and the database are ${Math.round(apart)} seconds apart. Run NTP on both machines.`,
  )
}
