import { eachInWorkspace } from '../jobs/each-in-workspace.ts'
import type { InWorkspace } from '../jobs/job.ts'
import type { Resolver } from '../net/dns.ts'
import type { Blocklists, Listing } from '../protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../protocols/dnsbl/sweep-address.ts'
import { lookUpReverse, type ReverseDns } from '../protocols/networks/reverse-dns.ts'
import { once } from '../once.ts'
import { addEvidence, type ReverseDnsEvidence } from './evidence.ts'
import { findBlockers } from './blockers.ts'
import { sendRequest, recordLost, type RequestDeps } from './requests/send.ts'
import { findDelay } from './requests/delay.ts'
import { applyEvent } from './steps/change.ts'
import {
  isClaimed,
  isFinal,
  isNotRequested,
  canRemind,
  type RequestReadiness,
  type StepEvent,
} from './steps/state-machine.ts'
import { answerOf, type Answer } from './steps/plan-steps.ts'
import {
  claimDueSteps,
  findStep,
  type DueStep,
  type StepWithProcess,
  type StepRow,
} from './steps/delisting-steps.sql.ts'
import { addMs, UNKNOWN_PAUSE_MS } from './steps/timing.ts'
import { updateReverseDns, type ProcessRow } from './delistings.sql.ts'
import { notifyNeeds } from './notify.ts'

export type SchedulerDeps = RequestDeps & { blocklists: Blocklists; resolver: Resolver }

/**
 * Steps that a worker claims at once, of all workspaces in turn, and addresses that it processes
 * concurrently.
 */
const BATCH_SIZE = 40
const CONCURRENT_ADDRESSES = 8

/**
 * Checks the list of every due step, takes the step’s next action, and then raises alerts for steps
 * that need the user. Any number of workers may run this at once.
 */
export async function processDueSteps(
  deps: SchedulerDeps,
  context: { signal: AbortSignal; inWorkspace: InWorkspace },
): Promise<void> {
  for (let claimed = await claimBatch(deps); claimed.length > 0; claimed = await claimBatch(deps)) {
    const steps = Map.groupBy(claimed, ({ workspaceId, ip }) => `${workspaceId} ${ip}`)
    const addresses = Array.from(steps.values(), (those) => {
      const { workspaceId, ip } = those[0] as DueStep
      return { workspaceId, ip, steps: those }
    })
    // The steps of a workspace that was deleted meanwhile are due again after their lease.
    await eachInWorkspace(addresses, CONCURRENT_ADDRESSES, context, (address, own) =>
      processAddress(deps, address, own),
    )
    context.signal.throwIfAborted()
  }
  await notifyNeeds(deps)
}

function claimBatch({ db, now }: SchedulerDeps): Promise<DueStep[]> {
  return claimDueSteps(db, now(), BATCH_SIZE)
}

/**
 * Processes the due steps of one address in a workspace with one sweep. A failed step is retried
 * when its lease expires.
 */
async function processAddress(
  deps: SchedulerDeps,
  { ip, steps }: { ip: string; steps: DueStep[] },
  signal: AbortSignal,
): Promise<void> {
  const listings = await queryLists(deps, ip, new Set(steps.map(({ zone }) => zone)), signal)
  const reverse = once(() => resolveReverseDns(deps, ip, signal))
  for (const { id, zone } of steps) {
    // An interrupted sweep has no result.
    if (signal.aborted) return
    try {
      const step = await checkStep(deps, id, listings.get(zone), reverse)
      if (step?.request === 'due' || step?.reminder === 'due') await sendRequest(deps, step)
    } catch (error) {
      deps.log.warn({ err: error, stepId: id }, 'a delisting step failed')
    }
  }
}

/** Queries these lists about the address; a list that is no longer in the catalogue is left out. */
async function queryLists(
  { blocklists }: SchedulerDeps,
  ip: string,
  zones: Set<string>,
  signal: AbortSignal,
): Promise<Map<string, Listing>> {
  const lists = blocklists.lists.filter(({ zone }) => zones.has(zone))
  const listings = await sweepAddress(ip, blocklists, signal, { lists, fresh: true })
  return new Map(listings.map((listing) => [listing.list.zone, listing]))
}

/** Checks one list now, for a user who waits. */
export async function checkStepNow(
  deps: SchedulerDeps,
  process: ProcessRow,
  step: StepRow,
  signal: AbortSignal,
): Promise<void> {
  const listings = await queryLists(deps, process.ip, new Set([step.zone]), signal)
  if (signal.aborted) return
  await checkStep(
    deps,
    step.id,
    listings.get(step.zone),
    () => resolveReverseDns(deps, process.ip, signal),
    true,
  )
}

/**
 * Applies the answer of a list to its step.
 * @param forPerson a user waits: one clean answer of a healthy list is enough, and no alert is
 *   raised
 */
async function checkStep(
  deps: SchedulerDeps,
  id: string,
  listing: Listing | undefined,
  reverse: () => Promise<ReverseDns>,
  forPerson = false,
): Promise<StepRow | null> {
  const found = await findStep(deps.db, id)
  if (!found || isFinal(found.step)) return null
  if (isClaimed(found.step)) return recordLostMail(deps, found.step)
  const step =
    found.step.status === 'pending'
      ? await applyEvent(deps, id, { event: { type: 'start' } })
      : found.step
  if (!step) return null
  const answer = listing ? answerOf(listing) : listNoLongerConfigured(deps.now())
  const isAsked =
    answer.status === 'listed' && (isNotRequested(step) || canRemind(step, deps.now()))
  const ready = isAsked
    ? await readinessOf(deps, { ...found, step }, answer, await reverse())
    : null
  const ttl = listing ? listing.expiresAt - listing.checkedAt : 0
  const atOnce = forPerson && listing?.health === 'healthy'
  const event: StepEvent = { type: 'answered', answer: answer.status, ttl, ready, atOnce }
  return applyEvent(deps, id, { event, attempt: step.attempt, answer, quiet: forPerson })
}

/**
 * A claimed mail whose step is due was lost with its worker; one that is not due is being sent now.
 */
async function recordLostMail(deps: SchedulerDeps, step: StepRow): Promise<null> {
  if (step.nextAt && step.nextAt <= deps.now()) await recordLost(deps, step)
  return null
}

const listNoLongerConfigured = (now: Date): Answer => ({
  status: 'unknown',
  at: now.toISOString(),
  codes: [],
  meanings: [],
  reason: null,
  detail: 'This list is no longer in the catalogue.',
  health: 'failing',
})

async function resolveReverseDns(
  { db, resolver }: SchedulerDeps,
  ip: string,
  signal: AbortSignal,
): Promise<ReverseDnsEvidence> {
  const reverse = await addEvidence(ip, await lookUpReverse(ip, resolver, signal), resolver, signal)
  if (reverse.status !== 'unknown') await updateReverseDns(db, ip, reverse)
  return reverse
}

async function readinessOf(
  deps: SchedulerDeps,
  { process: { ip, contactVerified }, step }: StepWithProcess,
  answer: Answer,
  reverse: ReverseDns,
): Promise<RequestReadiness> {
  // The list replies to the owner’s address. An unconfirmed address may belong to another person.
  const canSend = deps.relay !== null && step.plan.email !== undefined && contactVerified
  if (reverse.status === 'unknown') {
    const until = addMs(deps.now(), UNKNOWN_PAUSE_MS)
    return {
      obstacles: [],
      wait: { until, why: `The reverse DNS of ${ip} could not be resolved.` },
      canSend,
    }
  }
  const { name, plan } = step
  const obstacles = findBlockers({ ip, name, plan, answer }, reverse)
  return { obstacles, wait: await findDelay(deps.db, ip, step, deps.now()), canSend }
}
