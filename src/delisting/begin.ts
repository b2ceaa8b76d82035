import { Fault } from '../errors.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import { classify, parseAddress } from '../net/address.ts'
import type { Listing } from '../protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../protocols/dnsbl/sweep-address.ts'
import { notifyChange } from '../store/changes.ts'
import { notPursued, planSteps } from './steps/plan.ts'
import { insertSteps } from './steps/store.ts'
import { DAY, later } from './steps/timing.ts'
import {
  countOpenProcesses,
  findCleared,
  findOpenProcess,
  insertProcess,
  lockAccount,
  type NewProcess,
} from './store.ts'
import type { TendDeps } from './tend.ts'

export type BeginDeps = TendDeps & { queue: Queue; job: Job }

export type Wanted = { ip: string; cause?: string | undefined; fix?: string | undefined }

/** Open processes of one account: more than anybody with so many servers can follow. */
const MOST_OPEN = 500
/** After which an address that is listed again has nothing to do with the last time. */
const RELISTED_WITHIN = 30 * DAY

/**
 * Asks all lists about an address, and begins a process with a step for each that lists it.
 * @returns its id
 * @throws Fault `invalid_request` for what is no public address, `conflict` when it is being dealt with already or no
 *   list has it, `upstream_unreachable` when the lists cannot be asked
 */
export async function beginProcess(
  deps: BeginDeps,
  accountId: string,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<string> {
  const ip = requirePublic(wanted.ip)
  const { cause = null, fix = null } = wanted
  requireNone(ip, await findOpenProcess(deps.db, accountId, ip))
  const listings = await sweepAddress(ip, deps.blocklists, signal, { fresh: true })
  const steps = planSteps(ip, listings, cause !== null && fix !== null)
  if (steps.length === 0) throw nothingToDo(ip, listings)
  const createdAt = deps.now()
  const since = later(createdAt, -RELISTED_WITHIN)
  return deps.db.transaction().execute(async (trx) => {
    await lockAccount(trx, accountId)
    requireNone(ip, await findOpenProcess(trx, accountId, ip))
    if ((await countOpenProcesses(trx, accountId)) >= MOST_OPEN) throw tooMany()
    const relistedAfter = await findCleared(trx, accountId, ip, since)
    const process: NewProcess = { accountId, ip, cause, fix, relistedAfter, ...countsOf(listings), createdAt }
    const id = await insertProcess(trx, process)
    await insertSteps(trx, id, steps, createdAt)
    await deps.queue.enqueue(trx, deps.job, {})
    await notifyChange(trx, accountId, 'delisting', id)
    return id
  })
}

function countsOf(listings: Listing[]) {
  return {
    askedCount: listings.length,
    unknownCount: listings.filter(({ status }) => status === 'unknown').length,
    notPursued: notPursued(listings),
  }
}

function requirePublic(text: string): string {
  const parsed = parseAddress(text.trim())
  const reach = parsed && classify(parsed.address)
  const message = parsed === null ? 'is not an IP address' : reach?.public ? null : `is ${reach?.why}`
  if (parsed && message === null) return parsed.address
  throw new Fault('invalid_request', `“${text.slice(0, 80)}” ${message}.`, {
    details: [{ path: 'ip', message: String(message) }],
  })
}

function requireNone(ip: string, openId: string | undefined): void {
  if (openId === undefined) return
  throw new Fault('conflict', `The delisting of ${ip} is under way already: ${openId}.`)
}

function tooMany(): Fault {
  return new Fault('conflict', `An account has at most ${MOST_OPEN} delistings under way.`)
}

/** Nothing was found, which is good news only when the lists could be asked. */
function nothingToDo(ip: string, listings: Listing[]): Fault {
  const { askedCount, unknownCount, notPursued: left } = countsOf(listings)
  const names = left.map(({ blacklistName }) => blacklistName).join(', ')
  if (unknownCount > askedCount / 2) {
    const sentence =
      unknownCount === askedCount
        ? `None of ${askedCount} lists gave a usable answer about ${ip}`
        : `${unknownCount} of ${askedCount} lists gave no usable answer about ${ip}, and ${othersSay(names)}`
    return new Fault('upstream_unreachable', `${sentence}. Check DNSBL_SERVERS.`)
  }
  if (left.length > 0) {
    return new Fault(
      'conflict',
      `Only lists that say nothing about one address have ${ip}: ${names}. Nothing is to be done.`,
    )
  }
  const silent = unknownCount > 0 ? `; ${unknownCount} gave no usable answer` : ''
  return new Fault('conflict', `None of ${askedCount} lists has ${ip}${silent}. There is nothing to delist.`)
}

/** Of the lists that did answer, when none is pursued. */
function othersSay(names: string): string {
  return names === '' ? 'the others do not list it' : `only lists that say nothing about one address have it: ${names}`
}
