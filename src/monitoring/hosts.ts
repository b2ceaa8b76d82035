import type { Kysely } from 'kysely'
import { Fault, invalidField } from '../errors.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import { classify, parseHost } from '../net/address.ts'
import type { Blocklists } from '../protocols/dnsbl/blocklists.ts'
import { notifyChange } from '../store/changes.ts'
import type { DB } from '../store/tables.ts'
import { checkHost, waitForHost } from './checks/check-host.ts'
import type { HostCheckDeps } from './checks/deps.ts'
import { FULL_CHECK } from './checks/plan-checks.ts'
import { MAX_HOSTS_PER_WORKSPACE } from './limits.ts'
import {
  countHosts,
  findHost,
  insertHost,
  updateHost,
  type HostRow,
  type HostSettings,
} from './hosts.sql.ts'

export type HostDeps = {
  db: Kysely<DB>
  queue: Pick<Queue, 'enqueue'>
  sweep: Job
  blocklists: Blocklists
}

/** Ports of a new name whose certificates are monitored by default. */
const DEFAULT_TLS_PORTS = [443]

/**
 * Adds a monitored host and enqueues its first check in the same transaction.
 * @throws Fault `invalid_request`, `conflict`
 */
export async function addHost(
  { db, queue, sweep, blocklists }: HostDeps,
  workspaceId: string,
  { host: text, ...settings }: HostSettings & { host: string },
): Promise<HostRow> {
  const { name, tlsPorts } = readHost(text)
  requireLists(settings, blocklists)
  if ((await countHosts(db, workspaceId)) >= MAX_HOSTS_PER_WORKSPACE)
    throw new Fault('conflict', HOSTS_LIMIT_MESSAGE)
  return db.transaction().execute(async (trx) => {
    const row = await insertHost(trx, { workspaceId, host: name, tlsPorts, ...settings })
    if (!row) throw new Fault('conflict', alreadyMonitored(name))
    await queue.enqueue(trx, sweep, {})
    await notifyChange(trx, workspaceId, 'monitoring', row.id)
    return row
  })
}

export const HOSTS_LIMIT_MESSAGE = `A workspace can have up to ${MAX_HOSTS_PER_WORKSPACE} monitored hosts. Remove one first.`

export const alreadyMonitored = (name: string) => `${name} is already monitored.`

/**
 * Reads a host as the user typed it.
 * @returns its canonical name, and the ports of its certificates that are monitored by default
 * @throws Fault `invalid_request`
 */
export function readHost(text: string): { name: string; tlsPorts: number[] } {
  const host = parseHost(text)
  if (host.kind === 'name') return { name: host.name, tlsPorts: DEFAULT_TLS_PORTS }
  const reason = notPublicReason(host.address)
  if (reason === null) return { name: host.address, tlsPorts: [] }
  throw invalidField('host', reason, text)
}

function notPublicReason(address: string): string | null {
  const reach = classify(address)
  return reach.public ? null : `is ${reach.why}; blocklists contain only public addresses`
}

/** @throws Fault `invalid_request`, `not_found` */
export async function changeHost(
  { db, queue, sweep, blocklists }: HostDeps,
  workspaceId: string,
  id: string,
  settings: HostSettings,
): Promise<HostRow> {
  requireLists(settings, blocklists)
  return db.transaction().execute(async (trx) => {
    const row = (await updateHost(trx, workspaceId, id, settings)) ?? hostNotFound()
    await queue.enqueue(trx, sweep, {})
    await notifyChange(trx, workspaceId, 'monitoring', id)
    return row
  })
}

function requireLists({ lists = {} }: HostSettings, blocklists: Blocklists): void {
  const unknown = Object.keys(lists).find((zone) => !findList(zone, blocklists))
  if (unknown === undefined) return
  const message = `contains ${unknown.slice(0, 100)}, which is not a blocklist of this service`
  throw invalidField('lists', message, 'The field lists')
}

function findList(zone: string, { lists }: Blocklists) {
  return lists.find((list) => list.zone === zone)
}

/** @throws Fault `not_found` */
export function requireList(zone: string, blocklists: Blocklists) {
  const found = findList(zone, blocklists)
  if (found) return found
  throw new Fault('not_found', `${zone.slice(0, 100)} is not a blocklist of this service.`)
}

/** @throws Fault `not_found` */
export async function requireHost(
  { db }: { db: Kysely<DB> },
  workspaceId: string,
  id: string,
): Promise<HostRow> {
  return (await findHost(db, workspaceId, id)) ?? hostNotFound()
}

/** @throws Fault `not_found` */
export function hostNotFound(): never {
  throw new Fault('not_found', 'Monitored host not found.')
}

/** Milliseconds to wait for a check of the same host that is already running. */
const CHECK_WAIT_MS = 20_000

/**
 * Checks everything of a host now.
 * @throws Fault `unavailable` when another check of it does not finish in time
 */
export async function checkNow(
  deps: HostCheckDeps,
  { id, workspaceId }: HostRow,
  gone: AbortSignal,
): Promise<HostRow> {
  const host = await waitForHost(
    deps.db,
    id,
    AbortSignal.any([gone, AbortSignal.timeout(CHECK_WAIT_MS)]),
  )
  if (!host) {
    throw new Fault(
      'unavailable',
      'A check of this host is already running. Try again in a minute.',
      {
        retryAfter: 60,
      },
    )
  }
  await checkHost(host, deps, gone, FULL_CHECK)
  return requireHost(deps, workspaceId, id)
}
