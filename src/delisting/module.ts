import type { Kysely } from 'kysely'
import { closeIncident } from '../alerts/incidents.sql.ts'
import type { Config } from '../config.ts'
import type { Routes } from '../http/scopes.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Logger } from '../log.ts'
import { isMonitored } from '../monitoring/blocklists/is-monitored.ts'
import type { Resolver } from '../net/dns.ts'
import type { Blocklists } from '../protocols/dnsbl/blocklists.ts'
import type { DB } from '../store/tables.ts'
import { futureTimestampsOf } from '../store/due-rows.ts'
import { delistingJob } from './delisting-jobs.ts'
import { delistingRoutes } from './routes.ts'
import type { RaiseAlert, NotifyDeps } from './notify.ts'
import { listDelistingsOf } from './delistings.sql.ts'
import { DUE_STEPS } from './steps/delisting-steps.sql.ts'

export type DelistingOptions = {
  db: Kysely<DB>
  blocklists: Blocklists
  /** For the reverse DNS. */
  resolver: Resolver
  raiseAlert: RaiseAlert
  config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM'>
  log: Logger
  /** Replaces the clock in tests. */
  now?: () => Date
}

/** Creates the delisting module: its job and its routes. */
export function createDelistingModule({
  config,
  now = () => new Date(),
  ...rest
}: DelistingOptions) {
  const relay =
    config.SMTP_URL === undefined ? null : { smtpUrl: config.SMTP_URL, from: config.MAIL_FROM }
  const isToldElsewhere: NotifyDeps['isToldElsewhere'] = async (
    db,
    { workspaceId, ip, createdAt: since },
    zones,
  ) => {
    const lists = rest.blocklists.lists.filter(({ zone }) => zones.includes(zone))
    return lists.length === zones.length && isMonitored(db, { workspaceId, ip, since }, lists)
  }
  const deps = { ...rest, relay, now, isToldElsewhere, closeIncident }
  const job = delistingJob(deps)
  return {
    jobs: [job],
    /** The latest delistings of addresses, newest first. */
    delistingsOf: (workspaceId: string, addresses: { first: string; last: string }) =>
      listDelistingsOf(rest.db, workspaceId, addresses),
    futureTimestamps: futureTimestampsOf(DUE_STEPS, { clock: 'service' }),
    routes: {
      account: (app, { queue }) => delistingRoutes(app, { ...deps, queue, job }),
    } satisfies Routes<{ queue: Queue }>,
  }
}
