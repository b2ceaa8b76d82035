import { expect } from 'vitest'
import { addRoutes } from '../../src/http/scopes.ts'
import { createAuditWriter } from '../../src/accounts/audit/writer.ts'
import { createAlertsModule } from '../../src/alerts/module.ts'
import { raiseAlert } from '../../src/alerts/raise.ts'
import type { HostPort } from '../../src/setting-values.ts'
import type { Job } from '../../src/jobs/job.ts'
import { openQueue } from '../../src/jobs/queue.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import type { CheckIntervals } from '../../src/monitoring/limits.ts'
import { createDelistingModule } from '../../src/delisting/module.ts'
import { createMonitoringModule } from '../../src/monitoring/module.ts'
import { createResolver } from '../../src/net/dns.ts'
import { createBlocklists } from '../../src/protocols/dnsbl/blocklists.ts'
import { AT_ONCE, SECRET_KEY, startAlertsContext, until } from '../alerts/module.ts'
import { catalogue, open as openLists } from '../servers/blacklists.ts'

/** Intervals of milliseconds in place of minutes and hours. */
const FAST: CheckIntervals = {
  importantListsMs: 300,
  allListsMs: 600,
  certificatesAndRecordsMs: 300,
  confirmMs: 150,
  retryMs: 200,
}

/** Checks run only on request. */
export const NEVER: CheckIntervals = {
  importantListsMs: 1e9,
  allListsMs: 1e9,
  certificatesAndRecordsMs: 1e9,
  confirmMs: 100,
  retryMs: 1e9,
}

export type Host = {
  id: string
  host: string
  status: string
  listedCount: number
  totalChecked: number
  unknownCount: number
  detail: string | null
  lastCheckAt: string | null
  addresses: { ip: string; unknownLists: string[] }[]
  listings: {
    ip: string
    dnsbl: string
    state: string
    codes: string[]
    reason: string | null
    delistUrl: string | null
  }[]
  certificates: { port: number; state: string; daysRemaining: number }[]
  records: { name: string; type: string; values: string[] }[]
  days: string[]
  certificate: { state: string; daysRemaining: number } | null
  availability: { percent: number | null; listedSeconds: number; unknownSeconds: number }
  periods: { state: string; from: string; to: string }[]
}

export type Change = {
  at: string
  name: string
  dnsbl: string | null
  from: string
  to: string
  codes: string[]
  reason: string | null
  kind: string
  ip: string | null
  baseline: boolean
}

export type MonitoringTest = Awaited<ReturnType<typeof startMonitoring>>

type Options = {
  lists: HostPort
  dns?: HostPort
  smtpUrl?: string
  intervals?: CheckIntervals
  works?: boolean
  /** Name of the account. */
  name?: string
}

/** One instance of monitoring with alerts; several may share a database. */
export async function startMonitoring(
  databaseUrl: string,
  { lists, dns, smtpUrl, intervals = FAST, works = true, name = 'Alice' }: Options,
) {
  const context = await startAlertsContext(databaseUrl, { ...(smtpUrl && { smtpUrl }) })
  const { db, pool, log, notifications, app, authHooks } = context
  const resolver = createResolver({ servers: dns ? [dns] : [lists], timeoutMs: 2_500 })
  // Long enough for a machine that runs other tests meanwhile: a list that is late once counts as
  // failing for a minute.
  const blocklists = openLists(lists, { timeoutMs: 2_500 })
  const audit = createAuditWriter({ db, log })
  const alerts = createAlertsModule({
    ...context,
    secretKey: SECRET_KEY,
    batching: AT_ONCE,
    writeAudit: (entry) => audit.write(entry),
  })
  const monitoring = createMonitoringModule({
    ...context,
    resolver,
    blocklists,
    intervals,
    querySpacingMs: 0,
  })
  const delisting = createDelistingModule({ ...context, blocklists, resolver, raiseAlert })
  const jobs: Job[] = [...alerts.jobs, ...monitoring.jobs, ...delisting.jobs]
  const queue = await openQueue({ pool, jobs, log })
  const routes = [monitoring.routes, alerts.routes, delisting.routes]
  addRoutes(app, authHooks, routes, { queue })
  await context.open()
  const worker = works ? startWorker({ queue, jobs, notifications, log }) : null
  const stopSending = works ? alerts.startWork() : async () => {}
  let person = await context.addPerson(name)
  const [sweep] = monitoring.jobs
  const timer = setInterval(() => void sweepSoon(), 200)

  /** The schedule runs once a minute; tests run it as often as hosts are due. */
  async function sweepSoon(): Promise<void> {
    if (works && sweep) await queue.enqueue(db, sweep, {}).catch(() => {})
  }

  async function call<T>(
    method: string,
    path: string,
    body?: object,
    token: string = person.token,
  ) {
    return context.call<T>(token, method, `monitoring/${path}`, body)
  }

  async function read(id: string): Promise<Host> {
    return (await call<Host>('GET', `hosts/${id}`)).json.data
  }

  return {
    ...context,
    blocklists,
    /** Forgets which blocklists were reliable, as a restart would. */
    forgetHealth(): void {
      const { resolver: same } = blocklists
      Object.assign(blocklists, createBlocklists({ catalogue, keys: new Map(), resolver: same }))
    },
    /** Any route of the API. */
    callAs: context.call,
    /** Adds an account, which makes the requests from now on. */
    async become(newcomer: string): Promise<void> {
      person = await context.addPerson(newcomer)
    },
    owner: () => person,
    call,
    read,
    async add(host: string, settings: object = {}): Promise<Host> {
      const { status, json } = await call<Host>('POST', 'hosts', { host, ...settings })
      expect(status, json.error).toBe(201)
      return json.data
    },
    /** Checks everything of a host now. */
    async check({ id }: { id: string }): Promise<Host> {
      const { status, json } = await call<Host>('POST', `hosts/${id}/check`)
      expect(status, json.error).toBe(200)
      return json.data
    },
    /** Waits until the host meets the condition. */
    seen: ({ id }: { id: string }, holds: (host: Host) => boolean) =>
      until(() => read(id), holds, 40),
    /** Waits until it was checked this many more times. */
    async checked({ id }: { id: string }, times = 3): Promise<void> {
      for (let n = 0; n < times; n++) {
        const { lastCheckAt } = await read(id)
        await until(
          () => read(id),
          (host) => host.lastCheckAt !== lastCheckAt,
          40,
        )
      }
    },
    async history({ id }: { id: string }, query = 'limit=100'): Promise<Change[]> {
      return (await call<{ events: Change[] }>('GET', `hosts/${id}/history?${query}`)).json.data
        .events
    },
    async alertTitles(): Promise<string[]> {
      const { json } = await context.call<{ alerts: { kind: string; title: string }[] }>(
        person.token,
        'GET',
        'alerts?limit=100',
      )
      return json.data.alerts.map(({ title }) => title).toReversed()
    },
    async stop() {
      clearInterval(timer)
      await stopSending()
      await worker?.stop(5_000)
      await queue.close()
      await context.stop()
      resolver.close()
      ;(blocklists.resolver as { close?(): void }).close?.()
    },
  }
}
