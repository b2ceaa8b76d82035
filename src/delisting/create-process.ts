import { Fault, invalidField } from '../errors.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import { classify, parseAddress } from '../net/address.ts'
import type { Listing } from '../protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../protocols/dnsbl/sweep-address.ts'
import { notifyChange } from '../store/changes.ts'
import { notPursued, planSteps } from './steps/plan-steps.ts'
import { insertSteps } from './steps/delisting-steps.sql.ts'
import { addMs } from './steps/timing.ts'
import { DAY_MS } from '../time.ts'
import {
  countOpenProcesses,
  findCleared,
  findOpenProcess,
  insertProcess,
  lockWorkspace,
  type NewProcess,
} from './delistings.sql.ts'
import type { SchedulerDeps } from './delisting-scheduler.ts'

export type CreateDeps = SchedulerDeps & { queue: Queue; job: Job }

export type ProcessRequest = { ip: string; cause?: string | undefined; fix?: string | undefined }

/** Delistings in progress of one workspace. */
const MAX_OPEN_PROCESSES = 500
/** A listing after this time is unrelated to the earlier delisting. */
const RELISTED_WITHIN_MS = 30 * DAY_MS

/**
 * Checks an address on all lists and creates a process with a step for each listing.
 * @returns the id of the process
 * @throws Fault `invalid_request` when the address is not public, `conflict` when a delisting of it
 *   is in progress or no list has it (then `details` names the field `ip`), `upstream_unreachable`
 *   when the lists do not answer
 */
export async function createProcess(
  deps: CreateDeps,
  workspaceId: string,
  wanted: ProcessRequest,
  signal: AbortSignal,
): Promise<string> {
  const ip = requirePublicAddress(wanted.ip)
  const { cause = null, fix = null } = wanted
  requireNoOpenProcess(ip, await findOpenProcess(deps.db, workspaceId, ip))
  const listings = await sweepAddress(ip, deps.blocklists, signal, { fresh: true })
  const steps = planSteps(ip, listings, cause !== null && fix !== null)
  if (steps.length === 0) throw nothingToDo(ip, listings)
  const createdAt = deps.now()
  const since = addMs(createdAt, -RELISTED_WITHIN_MS)
  return deps.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, workspaceId)
    requireNoOpenProcess(ip, await findOpenProcess(trx, workspaceId, ip))
    if ((await countOpenProcesses(trx, workspaceId)) >= MAX_OPEN_PROCESSES) throw tooMany()
    const relistedAfter = await findCleared(trx, workspaceId, ip, since)
    const process: NewProcess = {
      workspaceId,
      ip,
      cause,
      fix,
      relistedAfter,
      ...countAnswers(listings),
      createdAt,
    }
    const id = await insertProcess(trx, process)
    await insertSteps(trx, id, steps, createdAt)
    await deps.queue.enqueue(trx, deps.job, {})
    await notifyChange(trx, workspaceId, 'delisting', id)
    return id
  })
}

function countAnswers(listings: Listing[]) {
  return {
    askedCount: listings.length,
    unknownCount: listings.filter(({ status }) => status === 'unknown').length,
    notPursued: notPursued(listings),
  }
}

function requirePublicAddress(text: string): string {
  const parsed = parseAddress(text.trim())
  const reach = parsed && classify(parsed.address)
  const message =
    parsed === null ? 'is not an IP address' : reach?.public ? null : `is ${reach?.why}`
  if (parsed && message === null) return parsed.address
  throw invalidField('ip', String(message), `“${text.slice(0, 80)}”`)
}

function requireNoOpenProcess(ip: string, openId: string | undefined): void {
  if (openId === undefined) return
  throw new Fault('conflict', `A delisting of ${ip} is already in progress: ${openId}.`)
}

function tooMany(): Fault {
  return new Fault(
    'conflict',
    `A workspace can have up to ${MAX_OPEN_PROCESSES} delistings in progress.`,
  )
}

/** The address is on no list: good news only when enough lists answered. */
function nothingToDo(ip: string, listings: Listing[]): Fault {
  const { askedCount, unknownCount, notPursued: left } = countAnswers(listings)
  const names = left.map(({ blacklistName }) => blacklistName).join(', ')
  if (unknownCount > askedCount / 2) {
    const sentence =
      unknownCount === askedCount
        ? `None of ${askedCount} lists gave a usable answer about ${ip}`
        : `${unknownCount} of ${askedCount} lists gave no usable answer about ${ip}, and ${describeOtherAnswers(names)}`
    return new Fault('upstream_unreachable', `${sentence}. Check DNSBL_SERVERS.`)
  }
  if (left.length > 0) {
    return new Fault(
      'conflict',
      `${ip} is only on informational lists: ${names}. No action is needed.`,
    )
  }
  const silent = unknownCount > 0 ? `; ${unknownCount} gave no usable answer` : ''
  // The dashboard recognizes this conflict by its detail and shows it as good news.
  return new Fault(
    'conflict',
    `${ip} is on none of ${askedCount} lists${silent}. There is nothing to delist.`,
    {
      details: [{ path: 'ip', message: 'is not listed' }],
    },
  )
}

/** Describes the lists that answered, when none of them gets a step. */
function describeOtherAnswers(names: string): string {
  return names === ''
    ? 'the others do not list it'
    : `the others with a listing are informational: ${names}`
}
