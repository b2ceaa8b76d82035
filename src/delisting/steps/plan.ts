import type { Blocklist, Category } from '../../protocols/dnsbl-catalogue.ts'
import type { Listing } from '../../protocols/dnsbl-lists.ts'
import type { Method } from './state-machine.ts'

/** Where and how a list is asked, and how long it takes. */
export type Plan = {
  url?: string | undefined
  /** Where the request goes by mail; without it the address stands on the page of `url`. */
  email?: string | undefined
  /** What the catalogue knows about leaving this list. */
  expiry?: string | undefined
  notes?: string | undefined
  expectedHours?: number | undefined
  deadlineHours?: number | undefined
  cooldownHours?: number | undefined
  /** Asked only when no other list has the address any more. */
  last?: boolean | undefined
  /** Lists whose entries this one repeats: it follows them. */
  follows?: string[] | undefined
  /** What the entry stands for. */
  scope: Blocklist['scope']
}

/** What a list said about the address. */
export type Answer = {
  status: Listing['status']
  at: string
  codes: string[]
  meanings: string[]
  reason: string | null
  /** Why unknown, or what is odd about the list. */
  detail: string | null
  health: Listing['health']
}

export type NewStep = {
  rank: number
  zone: string
  name: string
  category: Category
  method: Method
  plan: Plan
  confirmed: boolean
  firstAnswer: Answer
}

/** A list that has the address and is left alone, with the reason. */
export type NotPursued = { blacklistName: string; dnsbl: string; reason: string }

/**
 * A step for each list that lists the address, in the order in which a person should go through them.
 * @param listings a whole sweep
 * @param confirmed the owner has said cause and fix
 */
export function planSteps(ip: string, listings: Listing[], confirmed: boolean): NewStep[] {
  const listed = listings.filter(isPursued)
  const zones = new Set(listed.map(({ list }) => list.zone))
  const steps = listed.map((listing) => stepOf(ip, listing, zones, confirmed))
  return steps.toSorted((a, b) => orderOf(a) - orderOf(b)).map((step, rank) => ({ ...step, rank }))
}

/** Informational lists say nothing about one address, so that there is nothing to ask them for. */
function isPursued({ status, list }: Listing): boolean {
  return status === 'listed' && list.category !== 'informational'
}

export function notPursued(listings: Listing[]): NotPursued[] {
  return listings
    .filter((listing) => listing.status === 'listed' && !isPursued(listing))
    .map(({ list }) => ({
      blacklistName: list.name,
      dnsbl: list.zone,
      reason: `Says nothing about one address: ${SCOPES[list.scope]}.`,
    }))
}

const SCOPES: Record<Blocklist['scope'], string> = {
  ip: 'a score rather than a listing',
  policy: 'a policy or the place of a network',
  range: 'a whole range of a provider',
  asn: 'a whole provider',
}

function stepOf(ip: string, listing: Listing, zones: Set<string>, confirmed: boolean): Omit<NewStep, 'rank'> {
  const { list } = listing
  const plan = planOf(ip, list, zones)
  return {
    zone: list.zone,
    name: list.name,
    category: list.category,
    method: methodOf(listing, plan),
    plan,
    // What was said before it was known what the list says does not answer it.
    confirmed: confirmed && openProblem(answerOf(listing)) === null,
    firstAnswer: answerOf(listing),
  }
}

function planOf(ip: string, { delisting, lookupUrl, includes, scope }: Blocklist, zones: Set<string>): Plan {
  const { email, autoExpiry, notes, expectedHours, deadlineHours, cooldownHours, last } = delisting
  const url = (delisting.url ?? lookupUrl)?.replace('{ip}', ip)
  const follows = includes.filter((zone) => zones.has(zone))
  const feeds = follows.length > 0 ? { follows } : {}
  return { url, email, expiry: autoExpiry, notes, expectedHours, deadlineHours, cooldownHours, last, ...feeds, scope }
}

function methodOf({ list, codes }: Listing, { follows }: Plan): Method {
  if (follows) return 'automatic'
  if (list.scope === 'range' || list.scope === 'asn') return 'provider'
  if (codes.some((code) => list.delisting.providerCodes?.includes(code))) return 'provider'
  const { method } = list.delisting
  return method === 'none' ? 'automatic' : method
}

/** Those that are asked only at the end last; feeding lists before those that repeat them; the sweep's order within. */
function orderOf({ plan }: Pick<NewStep, 'plan'>): number {
  return plan.last ? 2 : plan.follows ? 1 : 0
}

export function answerOf({ status, checkedAt, codes, meanings, reason, detail, health }: Listing): Answer {
  return { status, at: new Date(checkedAt).toISOString(), codes, meanings, reason, detail, health }
}

const PROBLEMS: [RegExp, string][] = [
  [/\bopen[ -](?:mail |smtp )?relay/i, 'an open relay'],
  [/\bopen[ -](?:\w+ )?prox(?:y|ies)/i, 'an open proxy'],
  [/\bopen[ -](?:dns )?(?:resolver|recursor)/i, 'an open resolver'],
]

/** What the list says is open on this machine, and would get it listed again; null when it names nothing of the kind. */
export function openProblem({ reason, meanings }: Pick<Answer, 'reason' | 'meanings'>): string | null {
  const said = [reason, ...meanings].join(' ')
  return PROBLEMS.find(([pattern]) => pattern.test(said))?.[1] ?? null
}
