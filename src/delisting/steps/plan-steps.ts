import type { Blocklist, Category } from '../../protocols/dnsbl/blocklist-catalogue.ts'
import type { Listing } from '../../protocols/dnsbl/blocklists.ts'
import type { Method } from './methods.ts'

/** The removal procedure of a list, and how long it takes. */
export type RemovalPlan = {
  url?: string | undefined
  /** Recipient of the request. Without it, the page at `url` names the address. */
  email?: string | undefined
  /** The catalogue’s description of when entries expire. */
  expiry?: string | undefined
  notes?: string | undefined
  expectedHours?: number | undefined
  deadlineHours?: number | undefined
  cooldownHours?: number | undefined
  /** The request is made only when no other list has the address. */
  last?: boolean | undefined
  /** Lists whose entries this one repeats. */
  follows?: string[] | undefined
  /** The addresses that an entry of the blocklist covers. */
  scope: Blocklist['scope']
}

/** The answer of a list about the address. */
export type Answer = {
  status: Listing['status']
  at: string
  codes: string[]
  meanings: string[]
  reason: string | null
  /** Why the status is unknown, or a note about the list. */
  detail: string | null
  health: Listing['health']
}

export type NewStep = {
  rank: number
  zone: string
  name: string
  category: Category
  method: Method
  plan: RemovalPlan
  confirmed: boolean
  firstAnswer: Answer
}

/** A list that has the address and gets no step, with the reason. */
export type NotPursued = { blacklistName: string; dnsbl: string; reason: string }

/**
 * Plans a step for each listing, in the order in which the user should handle them.
 * @param listings the results of a complete sweep
 * @param confirmed the owner gave cause and fix
 */
export function planSteps(ip: string, listings: Listing[], confirmed: boolean): NewStep[] {
  const listed = listings.filter(isPursued)
  const zones = new Set(listed.map(({ list }) => list.zone))
  const steps = listed.map((listing) => stepOf(ip, listing, zones, confirmed))
  return steps.toSorted((a, b) => orderOf(a) - orderOf(b)).map((step, rank) => ({ ...step, rank }))
}

/** Informational lists have no removal procedure: they do not rate single addresses. */
function isPursued({ status, list }: Listing): boolean {
  return status === 'listed' && list.category !== 'informational'
}

export function notPursued(listings: Listing[]): NotPursued[] {
  return listings
    .filter((listing) => listing.status === 'listed' && !isPursued(listing))
    .map(({ list }) => ({
      blacklistName: list.name,
      dnsbl: list.zone,
      reason: `Informational list: ${SCOPES[list.scope]}.`,
    }))
}

const SCOPES: Record<Blocklist['scope'], string> = {
  ip: 'a score, not a listing',
  policy: 'a policy or the location of a network',
  range: 'a whole range of a provider',
  asn: 'a whole provider',
}

function stepOf(
  ip: string,
  listing: Listing,
  zones: Set<string>,
  confirmed: boolean,
): Omit<NewStep, 'rank'> {
  const { list } = listing
  const plan = planOf(ip, list, zones)
  return {
    zone: list.zone,
    name: list.name,
    category: list.category,
    method: methodOf(listing, plan),
    plan,
    // Cause and fix given before the check cannot refer to the open service that the list reports.
    confirmed: confirmed && openProblem(answerOf(listing)) === null,
    firstAnswer: answerOf(listing),
  }
}

function planOf(
  ip: string,
  { delisting, lookupUrl, includes, scope }: Blocklist,
  zones: Set<string>,
): RemovalPlan {
  const { email, autoExpiry, notes, expectedHours, deadlineHours, cooldownHours, last } = delisting
  const url = (delisting.url ?? lookupUrl)?.replace('{ip}', ip)
  const follows = includes.filter((zone) => zones.has(zone))
  const feeds = follows.length > 0 ? { follows } : {}
  return {
    url,
    email,
    expiry: autoExpiry,
    notes,
    expectedHours,
    deadlineHours,
    cooldownHours,
    last,
    ...feeds,
    scope,
  }
}

function methodOf({ list, codes }: Listing, { follows }: RemovalPlan): Method {
  if (follows) return 'automatic'
  if (list.scope === 'range' || list.scope === 'asn') return 'provider'
  if (codes.some((code) => list.delisting.providerCodes?.includes(code))) return 'provider'
  const { method } = list.delisting
  return method === 'none' ? 'automatic' : method
}

/**
 * Sorts blocklists that prefer to be last to the end, and blocklists before those that copy them;
 * otherwise in the order of the sweep.
 */
function orderOf({ plan }: Pick<NewStep, 'plan'>): number {
  return plan.last ? 2 : plan.follows ? 1 : 0
}

export function answerOf({
  status,
  checkedAt,
  codes,
  meanings,
  reason,
  detail,
  health,
}: Listing): Answer {
  return { status, at: new Date(checkedAt).toISOString(), codes, meanings, reason, detail, health }
}

const PROBLEMS: [RegExp, string][] = [
  [/\bopen[ -](?:mail |smtp )?relay/i, 'an open relay'],
  [/\bopen[ -](?:\w+ )?prox(?:y|ies)/i, 'an open proxy'],
  [/\bopen[ -](?:dns )?(?:resolver|recursor)/i, 'an open resolver'],
]

/**
 * The open service that the list reports and that would cause a new listing; null when there is
 * none.
 */
export function openProblem({
  reason,
  meanings,
}: Pick<Answer, 'reason' | 'meanings'>): string | null {
  const text = [reason, ...meanings].join(' ')
  return PROBLEMS.find(([pattern]) => pattern.test(text))?.[1] ?? null
}
