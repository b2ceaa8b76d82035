import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type LabelValues } from 'prom-client'
import type { App } from './server.ts'

/** Counters that rooms are handed as plain functions, and the registry in which all of them stand. */
export type Metrics = {
  registry: Registry
  /** Counts and times what the router answers, by the pattern of its route. */
  watch(app: App): void
  captured: (outcome: string) => void
  /** One attack report. */
  reported: (outcome: string) => void
  /** One DNS query. */
  asked: (resolver: string, outcome: string) => void
  /** DMARC and TLS reports that came by one way. */
  takenIn: (via: string, outcome: string, reports: number) => void
  /** One look at a watched host. */
  looked: (status: string) => void
  /** One try to send an alert. */
  alerted: (channel: string, outcome: string) => void
}

/** How many jobs of a name are in each state. */
export type JobCounts = { name: string; later: number; ready: number; running: number; failed: number }

/** What is read when somebody looks, not counted as it happens. */
export type Readings = {
  pool: { totalCount: number; idleCount: number; waitingCount: number }
  /** Of all instances together. */
  figures: () => Promise<JobCounts[]>
  isReady: () => Promise<boolean>
}

/** Seconds. Most answers take a few milliseconds; a check waits for slow servers, a capture for its set delay. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The job behind a running migration. */
const MIGRATION = 'migration.run'

/** Gauges of the library with the suffix of a counter: `promtool check metrics` complains, and the gauge of the same name by type adds up. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

export function createMetrics(version: string): Metrics {
  const registry = new Registry()
  const registers = [registry]
  // Brings the delay of the event loop, memory, garbage collection and open files.
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const labels = { name: 'portreeve_info', help: 'Which version runs.', labelNames: ['version'], registers }
  new Gauge(labels).set({ version }, 1)
  const requests = new Histogram({
    name: 'portreeve_http_request_duration_seconds',
    help: 'Requests by the pattern of their route; webhook captures are counted apart.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers,
  })
  const captures = counter('portreeve_captures_total', 'Webhook requests by what became of them.', ['outcome'])
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
    watch(app) {
      app.addHook('onResponse', ({ method, routeOptions }, { statusCode, elapsedTime }, done) => {
        requests.observe({ method, route: routeOptions.url ?? 'unknown', status: statusCode }, elapsedTime / 1000)
        done()
      })
    },
    captured: (outcome) => captures.inc({ outcome }),
    reported: (outcome) => reports.inc({ outcome }),
    asked: (resolver, outcome) => queries.inc({ resolver, outcome }),
    takenIn: (via, outcome, sum) => mailReports.inc({ via, outcome }, sum),
    looked: (status) => looks.inc({ status }),
    alerted: (channel, outcome) => alerts.inc({ channel, outcome }),
  }
}

/** Adds what is read at every look: connections, the queue, and whether the database answers. */
export function addReadings({ registry }: Metrics, { pool, figures, isReady }: Readings): void {
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
  gauge('jobs', 'Jobs of all instances together.', ['queue', 'state'], async () => (await figures()).flatMap(statesOf))
  gauge('migrations_running', 'Migrations that run, in all instances together.', [], async () => {
    const running = (await figures()).find(({ name }) => name === MIGRATION)?.running ?? 0
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
