import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../errors.ts'
import type { InWorkspace } from '../../jobs/job.ts'
import { WorkspaceDeleted } from '../../jobs/workspace-guard.ts'
import {
  CLAIM_BATCH,
  CLAIM_INTERVAL_MS,
  HOST_LEASE_SECONDS,
  PARALLEL_HOSTS,
  PARALLEL_HOSTS_PER_ACCOUNT,
} from '../limits.ts'
import { checkHost } from './check-host.ts'
import type { HostCheckDeps } from './deps.ts'
import { claimDue, releaseHost, type ClaimedHost } from './host-checks.sql.ts'

/**
 * Checks every host that is due, several in parallel, those that have waited longest first.
 * @param until time of `performance.now()` after which no further hosts are claimed
 * @returns the number of hosts checked
 */
export async function checkDueHosts(
  deps: HostCheckDeps,
  { signal, inWorkspace }: { signal: AbortSignal; inWorkspace: InWorkspace },
  until = Infinity,
): Promise<number> {
  let checked = 0
  let waiting: ClaimedHost[] = []
  let claiming: Promise<void> | undefined
  let isDry = false
  /** Hosts being checked, by account. */
  const busy = new Map<string, number>()
  let freed = Promise.withResolvers<void>()

  const isFull = (accountId: string) => (busy.get(accountId) ?? 0) >= PARALLEL_HOSTS_PER_ACCOUNT

  async function claimMore(): Promise<void> {
    if (signal.aborted || performance.now() > until) return void (isDry = true)
    const full = [...busy.keys()].filter(isFull)
    // Accounts with waiting hosts already have their share of the claimed ones.
    const held = [...new Set(waiting.map(({ responsibleId }) => responsibleId))]
    const claimed = await claimDue(deps.db, CLAIM_BATCH, HOST_LEASE_SECONDS, [...full, ...held])
    isDry = claimed.length === 0
    waiting.push(...claimed)
  }

  /**
   * The next host of an account below its limit; undefined when none is left and no check is
   * running.
   */
  async function next(): Promise<ClaimedHost | undefined> {
    for (;;) {
      const at = waiting.findIndex(({ responsibleId }) => !isFull(responsibleId))
      const [host] = at >= 0 ? waiting.splice(at, 1) : []
      // Counted before the first await, so that no other worker exceeds the limit.
      if (host) count(host.responsibleId, 1)
      if (host) return host
      await (claiming ??= claimMore().finally(() => (claiming = undefined)))
      if (waiting.some(({ responsibleId }) => !isFull(responsibleId))) continue
      if (signal.aborted || busy.size === 0) return undefined
      // Hosts of accounts at their limit wait here, and further hosts may become due meanwhile.
      await Promise.race([freed.promise, sleep(CLAIM_INTERVAL_MS, undefined, { ref: false })])
      if (isDry && performance.now() > until && waiting.length === 0) return undefined
    }
  }

  function count(accountId: string, change: number): void {
    const now = (busy.get(accountId) ?? 0) + change
    if (now > 0) busy.set(accountId, now)
    else busy.delete(accountId)
    if (change > 0) return
    freed.resolve()
    freed = Promise.withResolvers()
  }

  async function work(): Promise<void> {
    for (let host = await next(); host && !signal.aborted; host = await next()) {
      await checkSafely(host, deps, { signal, inWorkspace })
      count(host.responsibleId, -1)
      checked += 1
    }
  }

  await Promise.all(Array.from({ length: PARALLEL_HOSTS }, work))
  for (const host of waiting) await releaseHost(deps.db, host)
  waiting = []
  return checked
}

/**
 * Contains the failure of one host: it stays due and is claimed again after its lease, or once its
 * workspace is restored.
 */
async function checkSafely(
  host: ClaimedHost,
  deps: HostCheckDeps,
  { signal, inWorkspace }: { signal: AbortSignal; inWorkspace: InWorkspace },
): Promise<void> {
  try {
    await inWorkspace(host.workspaceId, (own) => checkHost(host, deps, own))
  } catch (error) {
    if (error instanceof WorkspaceDeleted) return await releaseHost(deps.db, host)
    if (signal.aborted) return
    deps.onChecked?.('failed')
    deps.log.warn(
      { hostId: host.id, err: error },
      `a host could not be checked: ${messageOf(error)}`,
    )
  }
}
