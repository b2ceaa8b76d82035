import type { Kysely } from 'kysely'
import { insertFirstChannel, listChannels } from '../../alerts/channels/alert-channels.sql.ts'
import { findDomainByName } from '../../dmarc/domains/dmarc-domains.sql.ts'
import { registerDomain } from '../../dmarc/domains/domains.ts'
import { Fault } from '../../errors.ts'
import type { DomainName } from '../../net/address.ts'
import { addHost, changeHost, type HostDeps } from '../../monitoring/hosts.ts'
import { listHosts, type HostRow } from '../../monitoring/hosts.sql.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import {
  createDomainContext,
  SERVICES,
  type DomainContext,
  type DomainDeps,
  type ServiceName,
} from '../domain-context.ts'
import { DOMAIN_DEADLINE_MS, MAX_PROBED_HOSTS, MAX_WATCHED_DOMAINS } from '../limits.ts'
import {
  countWatched,
  findWatched,
  saveWatched,
  type WatchedDomainRow,
} from './watched-domains.sql.ts'

export type WatchDeps = DomainDeps & {
  db: Kysely<DB>
  monitoring: HostDeps
  /** Whether this service can send email. */
  sendsMail: boolean
}

export type WatchResult = {
  row: WatchedDomainRow
  /** Parts that could not be switched on, as sentences. */
  problems: string[]
}

/** A host to monitor and the ports of its certificates. */
type WantedHost = { host: string; tlsPorts: number[] }

/** Ports of a monitored host at most. */
const MAX_TLS_PORTS = 8

/**
 * Switches on everything that watches a domain: the changes of its records, monitoring of the
 * domain and its mail servers, its DMARC reports and an alert channel. Parts that are on already
 * stay as they are, so it can be repeated.
 * @param options `onlyIfWatched`: completes a watch, unless the domain is no longer watched by then
 * @throws Fault `not_found` for a domain that does not exist; `conflict` beyond the limit
 */
export async function watchDomain(
  deps: WatchDeps,
  workspaceId: string,
  name: DomainName,
  stop: AbortSignal,
  { onlyIfWatched = false } = {},
): Promise<WatchResult> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(DOMAIN_DEADLINE_MS)])
  const context = createDomainContext(name, deps, signal)
  const own = await context.own()
  if (!own.exists && (await context.queries.query(name.name, 'SOA')).status === 'NXDOMAIN')
    throw new Fault('not_found', `${name.unicode} does not exist in the DNS (NXDOMAIN).`)
  const { receives, error } = await context.mailUse()
  const wanted = await findWantedHosts(context)
  const watched = { domain: name.name, hosts: wanted.map(({ host }) => host) }
  const row = await insertWatched(deps, workspaceId, watched, onlyIfWatched)
  const problems = [
    ...(receives === 'unknown'
      ? [
          `The mail servers of ${name.unicode} could not be looked up (${error}), so they are not monitored.`,
        ]
      : []),
    ...(await monitorHosts(deps, workspaceId, wanted)),
    ...(await registerReports(deps, workspaceId, name.name)),
    ...(await ensureChannel(deps, workspaceId)),
  ]
  await notifyChange(deps.db, workspaceId, 'checks')
  return { row, problems }
}

export const WATCH_LIMIT_MESSAGE = `A workspace can watch up to ${MAX_WATCHED_DOMAINS.toLocaleString('en')} domains. Remove one first.`

async function insertWatched(
  { db }: WatchDeps,
  workspaceId: string,
  wanted: Pick<WatchedDomainRow, 'domain' | 'hosts'>,
  onlyIfWatched: boolean,
): Promise<WatchedDomainRow> {
  return db.transaction().execute(async (trx) => {
    const count = await countWatched(trx, workspaceId)
    const known = await findWatched(trx, workspaceId, wanted.domain)
    if (!known && onlyIfWatched) throw new Fault('not_found', `${wanted.domain} is not watched.`)
    if (!known && count >= MAX_WATCHED_DOMAINS) throw new Fault('conflict', WATCH_LIMIT_MESSAGE)
    return saveWatched(trx, { workspaceId, ...wanted })
  })
}

/** The domain itself and its mail servers, each with the ports on which it has a certificate. */
async function findWantedHosts(context: DomainContext): Promise<WantedHost[]> {
  const { hosts } = await context.mailHosts()
  const own = await context.addressesOf(context.name)
  const web = {
    host: context.name,
    tlsPorts: own.addresses.length > 0 ? [SERVICES.https.port] : [],
  }
  const servers = await Promise.all(
    hosts
      .filter(({ host, addresses }) => host !== context.name && addresses.length > 0)
      .slice(0, MAX_PROBED_HOSTS)
      .map(async ({ host }) => ({ host, tlsPorts: await portsOf(host, context) })),
  )
  return [web, ...servers]
}

const MAIL_SERVICES: ServiceName[] = ['smtp', 'submission', 'imaps']

/** The usual ports that answer with TLS; port 25 where none can be reached from here. */
async function portsOf(host: string, context: DomainContext): Promise<number[]> {
  const open = await Promise.all(
    MAIL_SERVICES.map(async (service) => {
      const result = await context.probe(host, service)
      return 'facts' in result ? [SERVICES[service].port] : []
    }),
  )
  const ports: number[] = open.flat()
  return ports.length > 0 ? ports : [SERVICES.smtp.port]
}

async function monitorHosts(
  { db, monitoring }: WatchDeps,
  workspaceId: string,
  wanted: WantedHost[],
): Promise<string[]> {
  const known = new Map((await listHosts(db, workspaceId)).map((row) => [row.host, row]))
  const problems: string[] = []
  for (const { host, tlsPorts } of wanted) {
    try {
      await monitorHost(monitoring, workspaceId, { host, tlsPorts }, known.get(host))
    } catch (error) {
      // Another request may have added it meanwhile.
      if (!(error instanceof Fault)) throw error
      if (!/already monitored/.test(error.message))
        problems.push(`${host} is not monitored: ${error.message}`)
    }
  }
  return problems
}

async function monitorHost(
  deps: HostDeps,
  workspaceId: string,
  wanted: WantedHost,
  known: HostRow | undefined,
): Promise<void> {
  if (!known) return void (await addHost(deps, workspaceId, wanted))
  const missing = wanted.tlsPorts.filter((port) => !known.tlsPorts.includes(port))
  if (missing.length === 0) return
  const tlsPorts = [...known.tlsPorts, ...missing].slice(0, MAX_TLS_PORTS)
  await changeHost(deps, workspaceId, known.id, { tlsPorts })
}

async function registerReports(
  { db }: WatchDeps,
  workspaceId: string,
  domain: string,
): Promise<string[]> {
  if (await findDomainByName(db, workspaceId, domain)) return []
  try {
    await registerDomain(db, workspaceId, domain)
    return []
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (/already registered/.test(error.message)) return []
    return [`DMARC reports are not received: ${error.message}`]
  }
}

/** Alerts need a channel that works. */
async function ensureChannel({ db, sendsMail }: WatchDeps, workspaceId: string): Promise<string[]> {
  await insertFirstChannel(db, workspaceId)
  const channels = (await listChannels(db, workspaceId)).filter(
    ({ enabled, disabledReason }) => enabled && disabledReason === null,
  )
  const emails = channels.filter(({ type }) => type === 'email')
  if (channels.length === 0)
    return [
      'Alerts are not sent: the workspace has no active alert channel. Add one under Settings.',
    ]
  if (channels.length > emails.length) return []
  if (!sendsMail) return ['Alerts are not emailed: this service has no mail relay (SMTP_URL).']
  return emails.some(({ confirmedAt }) => confirmedAt !== null)
    ? []
    : [
        'Alerts are not emailed yet: confirm the address under Alert channels with the code from the email.',
      ]
}
