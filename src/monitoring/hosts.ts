import type { Kysely } from 'kysely'
import { Fault } from '../errors.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import { classify, parseHost } from '../net/address.ts'
import type { Blocklists } from '../protocols/dnsbl/blocklists.ts'
import { notifyChange } from '../store/changes.ts'
import type { DB } from '../store/tables.ts'
import { HOSTS_PER_ACCOUNT } from './limits.ts'
import { lookAtHost, takeHost, type LookDeps } from './looks/look.ts'
import { EVERYTHING } from './looks/plan.ts'
import { countHosts, findHost, insertHost, updateHost, type HostRow, type HostSettings } from './store.ts'

export type HostDeps = { db: Kysely<DB>; queue: Queue; sweep: Job; blocklists: Blocklists }

/** Where a name's certificate is looked at unless somebody says otherwise. */
const TLS_PORTS = [443]

/**
 * Begins to watch a host; the first look is enqueued with it.
 * @throws Fault `invalid_request`, `conflict`
 */
export async function addHost(
  { db, queue, sweep, blocklists }: HostDeps,
  accountId: string,
  { host: text, ...settings }: HostSettings & { host: string },
): Promise<HostRow> {
  const host = parseHost(text)
  const wrong = host.kind === 'ip' ? whyNotWatched(host.address) : null
  if (wrong) throw new Fault('invalid_request', `${text} ${wrong}.`, { details: [{ path: 'host', message: wrong }] })
  requireLists(settings, blocklists)
  if ((await countHosts(db, accountId)) >= HOSTS_PER_ACCOUNT) {
    throw new Fault('conflict', `An account watches at most ${HOSTS_PER_ACCOUNT} hosts.`)
  }
  const name = host.kind === 'ip' ? host.address : host.name
  const tlsPorts = host.kind === 'ip' ? [] : TLS_PORTS
  return db.transaction().execute(async (trx) => {
    const row = await insertHost(trx, { accountId, host: name, tlsPorts, ...settings })
    if (!row) throw new Fault('conflict', `${name} is watched already.`)
    await queue.enqueue(trx, sweep, {})
    await notifyChange(trx, accountId, 'monitoring', row.id)
    return row
  })
}

function whyNotWatched(address: string): string | null {
  const reach = classify(address)
  return reach.public ? null : `is ${reach.why}; blocklists have only public addresses`
}

/** @throws Fault `invalid_request`, `not_found` */
export async function changeHost(
  { db, queue, sweep, blocklists }: HostDeps,
  accountId: string,
  id: string,
  settings: HostSettings,
): Promise<HostRow> {
  requireLists(settings, blocklists)
  return db.transaction().execute(async (trx) => {
    const row = (await updateHost(trx, accountId, id, settings)) ?? noHost()
    await queue.enqueue(trx, sweep, {})
    await notifyChange(trx, accountId, 'monitoring', id)
    return row
  })
}

function requireLists({ lists = {} }: HostSettings, blocklists: Blocklists): void {
  const unknown = Object.keys(lists).find((zone) => !findList(zone, blocklists))
  if (unknown === undefined) return
  const message = `names ${unknown.slice(0, 100)}, which is not a blacklist that is asked here`
  throw new Fault('invalid_request', `The field lists ${message}.`, { details: [{ path: 'lists', message }] })
}

function findList(zone: string, { lists }: Blocklists) {
  return lists.find((list) => list.zone === zone)
}

/** @throws Fault `not_found` */
export function requireList(zone: string, blocklists: Blocklists) {
  const found = findList(zone, blocklists)
  if (found) return found
  throw new Fault('not_found', `${zone.slice(0, 100)} is not a blacklist that is asked here.`)
}

/** @throws Fault `not_found` */
export async function requireHost({ db }: { db: Kysely<DB> }, accountId: string, id: string): Promise<HostRow> {
  return (await findHost(db, accountId, id)) ?? noHost()
}

export function noHost(): never {
  throw new Fault('not_found', 'There is no such monitored host.')
}

/** Milliseconds to wait for a host that is being looked at. */
const PATIENCE = 20_000

/**
 * Looks at everything of a host now.
 * @throws Fault `unavailable` when it is being looked at, and that does not end
 */
export async function checkNow(deps: LookDeps, { id, accountId }: HostRow, gone: AbortSignal): Promise<HostRow> {
  const host = await takeHost(deps.db, id, AbortSignal.any([gone, AbortSignal.timeout(PATIENCE)]))
  if (!host) throw new Fault('unavailable', 'This host is being looked at; ask again in a minute.', { retryAfter: 60 })
  await lookAtHost(host, deps, gone, EVERYTHING)
  return requireHost(deps, accountId, id)
}
