import { reverseName } from '../../net/address.ts'
import { dataOf, type DnsAnswer, type RecordType } from '../../net/dns.ts'
import { dnsFailureOf, type DnsQueries } from '../dns-queries.ts'
import { isClientWithin, withoutDot, type SpfIdentity } from './spf-client.ts'
import { isQueryable } from './spf-macros.ts'
import type { Mechanism } from './spf-record.ts'
import { permerror, SpfEnded } from './spf-result.ts'
import { LOOKUP_LIMIT, MX_LIMIT, VOID_LOOKUP_LIMIT } from './spf-tree.ts'

/** The state of one evaluation, shared by all records that it reads. */
export type SpfCheck = {
  readonly client: SpfIdentity
  readonly queries: DnsQueries
  readonly counts: LookupCounts
  /** The validated names of the client; null until a term needs them. */
  clientNames: Promise<string[]> | null
}

/** The lookups so far that are limited (RFC 7208, 4.6.4). */
type LookupCounts = { lookups: number; voidLookups: number }

/** RFC 7208, 4.6.4: of more names of one address, the rest is ignored. */
const PTR_LIMIT = 10

const BAD_NAME: DnsAnswer = { status: 'FAILED', failure: 'BADNAME', server: null, ms: 0 }

/** @throws SpfEnded when the term exceeds the limit of lookups */
export function countLookup({ counts }: SpfCheck, term: string): void {
  counts.lookups += 1
  if (counts.lookups > LOOKUP_LIMIT)
    throw permerror(`\`${term}\` exceeds the limit of ${LOOKUP_LIMIT} DNS lookups`)
}

function countVoid({ counts }: SpfCheck, foundNothing: boolean, { text }: Mechanism): void {
  counts.voidLookups += foundNothing ? 1 : 0
  if (counts.voidLookups > VOID_LOOKUP_LIMIT) {
    throw permerror(
      `\`${text}\` is the third lookup that finds nothing; the limit is ${VOID_LOOKUP_LIMIT}`,
    )
  }
}

/** RFC 7208, 4.6.4: no such name, or no such records. */
function isVoid(answer: DnsAnswer): boolean {
  return answer.status !== 'FAILED'
}

/** An invalid name has no records (RFC 7208, 4.8); any other failure ends the evaluation. */
async function ask(
  { queries }: SpfCheck,
  host: string,
  type: RecordType,
  term: Mechanism,
): Promise<DnsAnswer> {
  if (!isQueryable(host)) return BAD_NAME
  const answer = await queries.query(host, type)
  const failure = dnsFailureOf(answer)
  if (failure === null || failure === 'BADNAME') return answer
  throw new SpfEnded(
    'temperror',
    `${term.text}: ${type} of ${host} could not be looked up (${failure})`,
  )
}

/** @throws SpfEnded when the lookup fails, or is a void lookup too many */
export async function lookUpAddresses(
  check: SpfCheck,
  host: string,
  type: 'A' | 'AAAA',
  term: Mechanism,
): Promise<string[]> {
  const answer = await ask(check, host, type, term)
  const addresses = dataOf(answer, type)
  countVoid(check, addresses.length === 0 && isVoid(answer), term)
  return addresses
}

/**
 * Looks up the addresses of a host’s mail servers.
 * @throws SpfEnded when a lookup fails or a limit is exceeded
 */
export async function lookUpExchangeAddresses(
  check: SpfCheck,
  host: string,
  term: Mechanism,
): Promise<string[]> {
  const { addressType } = check.client
  const answer = await ask(check, host, 'MX', term)
  const exchanges = dataOf(answer, 'MX').map(({ exchange }) => withoutDot(exchange))
  countVoid(check, exchanges.length === 0 && isVoid(answer), term)
  if (exchanges.length > MX_LIMIT) throw permerror(`${host} has more than ${MX_LIMIT} mail servers`)
  const found = await Promise.all(
    exchanges.map((exchange) => ask(check, exchange, addressType, term)),
  )
  return found.flatMap((one) => dataOf(one, addressType))
}

/**
 * Looks up the client’s names for a term (RFC 7208, 5.5). Nothing that fails here is an error, for
 * it is in the client’s hands.
 * @throws SpfEnded when it is a void lookup too many
 */
export async function lookUpClientNames(check: SpfCheck, term: Mechanism): Promise<string[]> {
  const answer = await queryNames(check)
  countVoid(check, dataOf(answer, 'PTR').length === 0 && isVoid(answer), term)
  return validatedNames(check)
}

/** The names of the client’s address that lead back to it (RFC 7208, 5.5). */
export function validatedNames(check: SpfCheck): Promise<string[]> {
  check.clientNames ??= findNames(check)
  return check.clientNames
}

async function findNames(check: SpfCheck): Promise<string[]> {
  const answer = await queryNames(check)
  const candidates = dataOf(answer, 'PTR').map(withoutDot).filter(isQueryable).slice(0, PTR_LIMIT)
  const valid = await Promise.all(candidates.map((name) => leadsToClient(check, name)))
  return candidates.filter((_name, index) => valid[index])
}

function queryNames({ client, queries }: SpfCheck): Promise<DnsAnswer> {
  return queries.query(reverseName(client.address.toString()), 'PTR')
}

async function leadsToClient({ client, queries }: SpfCheck, name: string): Promise<boolean> {
  const { addressType } = client
  const addresses = dataOf(await queries.query(name, addressType), addressType)
  return addresses.some((found) => isClientWithin(client, found, null))
}
