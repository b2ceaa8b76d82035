import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type LabelValues } from 'prom-client'
import type { App } from './server.ts'

/** The library's gauges whose names end as counters do, which `promtool check metrics` refuses: sums over labels of others. */
const MISNAMED_METRICS = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** Counters that rooms are handed as plain functions, and the registry in which all of them stand. */
export type Metrics = {
  registry: Registry
  /** Counts and times what the router answers, by the pattern of its route. */
  observeRequests(app: App): void
  countCapture: (outcome: string) => void
  /** Captured requests that were removed before their time. */
  countRemovedCaptures: (reason: string, requests: number) => void
  /** What is free for the database, where that is watched. */
  setFreeBytes: (freeBytes: number) => void
  /** One attack report. */
  countAttackReport: (outcome: string) => void
  /** One DNS query. */
  countDnsQuery: (resolver: string, outcome: string) => void
  /** DMARC and TLS reports that came by one way. */
  countMailReports: (via: string, outcome: string, reports: number) => void
  /** One look at a watched host. */
  countHostCheck: (status: string) => void
  /** One try to send an alert. */
  countAlertAttempt: (channel: string, outcome: string) => void
}

/** How many jobs of a name are in each state. */
export type JobCounts = { name: string; later: number; ready: number; running: number; failed: number }

/** What is read when somebody looks, not counted as it happens. */
export type MetricReadings = {
  pool: { totalCount: number; idleCount: number; waitingCount: number }
  /** Of all instances together. */
  countJobs: () => Promise<JobCounts[]>
  isReady: () => Promise<boolean>
}

/** Seconds. Most answers take a few milliseconds; a check waits for slow servers, a capture for its set delay. */
const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The job behind a running migration. */
const MIGRATION_JOB = 'migration.run'

export function createMetrics(version: string): Metrics {
  const registry = new Registry()
  const registers = [registry]
  // Brings the delay of the event loop, memory, garbage collection and open files.
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED_METRICS) registry.removeSingleMetric(name)
  const labels = { name: 'portreeve_info', help: 'Which version runs.', labelNames: ['version'], registers }
  new Gauge(labels).set({ version }, 1)
  const requests = new Histogram({
    name: 'portreeve_http_request_duration_seconds',
    help: 'Requests by the pattern of their route; webhook captures are counted apart.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  })
  const captures = counter('portreeve_captures_total', 'Webhook requests by what became of them.', ['outcome'])
  const removals = counter(
    'portreeve_captures_removed_total',
    'Captured webhook requests removed early, by the reason.',
    ['reason'],
  )
  for (const reason of ['quota', 'disk']) removals.inc({ reason }, 0)
  let free: Gauge | undefined
  const createFree = () =>
    new Gauge({
      name: 'portreeve_database_free_bytes',
      help: 'Bytes free on the disk of the embedded database, or below MAX_DATABASE_BYTES.',
      registers,
    })
  const reports = counter('portreeve_attack_reports_total', 'Attack reports by what became of them.', ['outcome'])
  const queries = counter('portreeve_dns_queries_total', 'DNS queries by RCODE, or by why there was no answer.', [
    'resolver',
    'outcome',
  ])
  const mailReports = counter('portreeve_dmarc_reports_total', 'DMARC and TLS reports by what became of them.', [
    'via',
    'outcome',
  ])
  const looks = counter('portreeve_looks_total', 'Looks at watched hosts by what was seen.', ['status'])
  const alerts = counter('portreeve_alerts_total', 'Tries to send an alert.', ['channel', 'outcome'])

  function counter<T extends string>(name: string, help: string, labelNames: T[]): Counter<T> {
    return new Counter({ name, help, labelNames, registers })
  }

  return {
    registry,
    observeRequests(app) {
      app.addHook('onResponse', ({ method, routeOptions }, { statusCode, elapsedTime }, done) => {
        requests.observe({ method, route: routeOptions.url ?? 'unknown', status: statusCode }, elapsedTime / 1000)
        done()
      })
    },
    countCapture: (outcome) => captures.inc({ outcome }),
    countRemovedCaptures: (reason, sum) => removals.inc({ reason }, sum),
    // Where nothing is watched there is none: 0 would be an alarm.
    setFreeBytes: (freeBytes) => (free ??= createFree()).set(freeBytes),
    countAttackReport: (outcome) => reports.inc({ outcome }),
    countDnsQuery: (resolver, outcome) => queries.inc({ resolver, outcome }),
    countMailReports: (via, outcome, sum) => mailReports.inc({ via, outcome }, sum),
    countHostCheck: (status) => looks.inc({ status }),
    countAlertAttempt: (channel, outcome) => alerts.inc({ channel, outcome }),
  }
}

/** Adds what is read at every look: connections, the queue, and whether the database answers. */
export function addReadings({ registry }: Metrics, { pool, countJobs, isReady }: MetricReadings): void {
  const gauge = <T extends string>(name: string, help: string, labelNames: T[], read: Read<T>) =>
    new Gauge({
      name: `portreeve_${name}`,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        this.reset()
        // A database that is away leaves a gap in these, and must not take the others along.
        for (const [labels, value] of await read().catch(() => [])) this.set(labels, value)
      },
    })

  gauge('database_up', 'Whether the database answers.', [], async () => [[{}, Number(await isReady())]])
  gauge('database_connections', 'Connections of this instance.', ['state'], async () => [
    [{ state: 'used' }, pool.totalCount - pool.idleCount],
    [{ state: 'idle' }, pool.idleCount],
  ])
  gauge('database_waiting', 'Who waits for a connection.', [], async () => [[{}, pool.waitingCount]])
  gauge('jobs', 'Jobs of all instances together.', ['queue', 'state'], async () =>
    (await countJobs()).flatMap(statesOf),
  )
  gauge('migrations_running', 'Migrations that run, in all instances together.', [], async () => {
    const running = (await countJobs()).find(({ name }) => name === MIGRATION_JOB)?.running ?? 0
    return [[{}, running]]
  })
}

type Read<T extends string> = () => Promise<[labels: LabelValues<T>, value: number][]>

function statesOf({ name: queue, ...counts }: JobCounts) {
  return Object.entries(counts).map(([state, count]): [{ queue: string; state: string }, number] => [
    { queue, state },
    count,
  ])
}
