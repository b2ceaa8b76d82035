import type { Resolver } from '../net/dns.ts'
import type { Blocklists, Listing } from '../protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../protocols/dnsbl/sweep-address.ts'
import { lookUpReverse, type ReverseDns } from '../protocols/networks/reverse-dns.ts'
import { withEvidence, type Standing } from './evidence.ts'
import { obstaclesOf } from './obstacles.ts'
import { sendRequest, settleLost, type SendDeps } from './requests/send.ts'
import { tooEarly } from './requests/too-early.ts'
import { changeStep } from './steps/change.ts'
import { isClaimed, isFinal, isUnasked, mayRemind, type Readiness, type StepEvent } from './steps/machine.ts'
import { answerOf, type Answer } from './steps/plan.ts'
import { claimDue, findStep, type Due, type Found, type StepRow } from './steps/store.ts'
import { later, LEASE, UNKNOWN_PAUSE } from './steps/timing.ts'
import { updateReverse, type ProcessRow } from './store.ts'
import { tellNeeds } from './tell.ts'

export type TendDeps = SendDeps & { blocklists: Blocklists; resolver: Resolver }

/** Steps that a worker takes at once, of all accounts in turn, and addresses that it deals with side by side. */
const BATCH = 40
const SIDE_BY_SIDE = 8

/**
 * Looks at every step that is due, asks its list, and does what comes next; then tells people what waits for them. Any
 * number of workers may do so at once.
 */
export async function tend(deps: TendDeps, signal: AbortSignal): Promise<void> {
  for (let claimed = await claim(deps); claimed.length > 0; claimed = await claim(deps)) {
    const addresses = [...Map.groupBy(claimed, ({ ip }) => ip)]
    const lanes = Array.from({ length: SIDE_BY_SIDE }, async () => {
      for (let next = addresses.shift(); next; next = addresses.shift()) await tendAddress(deps, ...next, signal)
    })
    await Promise.all(lanes)
    signal.throwIfAborted()
  }
  await tellNeeds(deps)
}

function claim({ db, now }: TendDeps): Promise<Due[]> {
  return claimDue(db, now(), later(now(), LEASE), BATCH)
}

/** One sweep for all lists of an address that are due. A step that goes wrong is taken up again when its lease is over. */
async function tendAddress(deps: TendDeps, ip: string, steps: Due[], signal: AbortSignal): Promise<void> {
  const listings = await askLists(deps, ip, new Set(steps.map(({ zone }) => zone)), signal)
  const reverse = once(() => reverseOf(deps, ip, signal))
  for (const { id, zone } of steps) {
    // What was interrupted tells nothing about the lists.
    if (signal.aborted) return
    try {
      const step = await lookAt(deps, id, listings.get(zone), reverse)
      if (step?.request === 'due' || step?.reminder === 'due') await sendRequest(deps, step)
    } catch (error) {
      deps.log.warn({ err: error, stepId: id }, 'a step of a delisting went wrong')
    }
  }
}

/** What these lists say about the address now; nothing for a list that is not asked any more. */
async function askLists(
  { blocklists }: TendDeps,
  ip: string,
  zones: Set<string>,
  signal: AbortSignal,
): Promise<Map<string, Listing>> {
  const lists = blocklists.lists.filter(({ zone }) => zones.has(zone))
  const listings = await sweepAddress(ip, blocklists, signal, { lists, fresh: true })
  return new Map(listings.map((listing) => [listing.list.zone, listing]))
}

/** Asks one list at once, as a person wants it. */
export async function lookNow(deps: TendDeps, process: ProcessRow, step: StepRow, signal: AbortSignal): Promise<void> {
  const listings = await askLists(deps, process.ip, new Set([step.zone]), signal)
  if (signal.aborted) return
  await lookAt(deps, step.id, listings.get(step.zone), () => reverseOf(deps, process.ip, signal), true)
}

/**
 * Lets a step hear what its list says.
 * @param forPerson one clean answer of a list in good health will do, and nobody needs to be told
 */
async function lookAt(
  deps: TendDeps,
  id: string,
  listing: Listing | undefined,
  reverse: () => Promise<ReverseDns>,
  forPerson = false,
): Promise<StepRow | null> {
  const found = await findStep(deps.db, id)
  if (!found || isFinal(found.step)) return null
  if (isClaimed(found.step)) return settleStale(deps, found.step)
  const step = found.step.status === 'pending' ? await changeStep(deps, id, { event: { type: 'start' } }) : found.step
  if (!step) return null
  const answer = listing ? answerOf(listing) : NOT_ASKED(deps.now())
  const isAsked = answer.status === 'listed' && (isUnasked(step) || mayRemind(step, deps.now()))
  const ready = isAsked ? await readinessOf(deps, { ...found, step }, answer, await reverse()) : null
  const ttl = listing ? listing.expiresAt - listing.checkedAt : 0
  const atOnce = forPerson && listing?.health === 'healthy'
  const event: StepEvent = { type: 'answered', answer: answer.status, ttl, ready, atOnce }
  return changeStep(deps, id, { event, attempt: step.attempt, answer, quiet: forPerson })
}

/** A mail on its way that is due to be looked at was not heard of again; one that is not due is being sent just now. */
async function settleStale(deps: TendDeps, step: StepRow): Promise<null> {
  if (step.nextAt && step.nextAt <= deps.now()) await settleLost(deps, step)
  return null
}

const NOT_ASKED = (now: Date): Answer => ({
  status: 'unknown',
  at: now.toISOString(),
  codes: [],
  meanings: [],
  reason: null,
  detail: 'Is not among the lists that are asked any more.',
  health: 'failing',
})

async function reverseOf({ db, resolver }: TendDeps, ip: string, signal: AbortSignal): Promise<Standing> {
  const reverse = await withEvidence(ip, await lookUpReverse(ip, resolver, signal), resolver, signal)
  if (reverse.status !== 'unknown') await updateReverse(db, ip, reverse)
  return reverse
}

async function readinessOf(
  deps: TendDeps,
  { process: { ip, contactVerified }, step }: Found,
  answer: Answer,
  reverse: ReverseDns,
): Promise<Readiness> {
  // The list's answer goes to the owner's address: an address that is not proven may be a stranger's.
  const canSend = deps.relay !== null && step.plan.email !== undefined && contactVerified
  if (reverse.status === 'unknown') {
    const until = later(deps.now(), UNKNOWN_PAUSE)
    return { obstacles: [], wait: { until, why: `The reverse DNS of ${ip} could not be looked up.` }, canSend }
  }
  const { name, plan } = step
  const obstacles = obstaclesOf({ ip, name, plan, answer }, reverse)
  return { obstacles, wait: await tooEarly(deps.db, ip, step, deps.now()), canSend }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => (running ??= work())
}
