import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type LabelValues,
} from 'prom-client'
import type { ArchiveStatus } from '../../store/archive/archive-status.ts'
import type { App } from '../http-server.ts'

/**
 * Gauges of the library with names of counters, which `promtool check metrics` rejects. They are
 * sums of other metrics.
 */
const MISNAMED_METRICS = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** Counters that modules get as plain functions, and the registry of all metrics. */
export type ServiceMetrics = {
  registry: Registry
  /** Records the number and duration of requests by route pattern. */
  observeRequests(app: App): void
  countCapture: (outcome: string) => void
  /** Counts an attempt to forward a request. @param kind what went wrong; null for nothing */
  countForwardingAttempt: (kind: string | null, durationMs: number) => void
  /** Counts a delivery that has ended. */
  countForwardingEnd: (state: string) => void
  /** Counts captured requests that were removed early. */
  countRemovedCaptures: (reason: string, requests: number) => void
  /** Sets the free space of the database, where it is monitored. */
  setFreeBytes: (freeBytes: number) => void
  /** Counts one attack report. */
  countAttackReport: (outcome: string) => void
  /** Counts one DNS query. */
  countDnsQuery: (resolver: string, outcome: string) => void
  /** Counts DMARC and TLS reports by the way they arrived. */
  countMailReports: (via: string, outcome: string, reports: number) => void
  /** Counts one check of a monitored host. */
  countHostCheck: (status: string) => void
  /** Counts one attempt to send an alert. */
  countAlertAttempt: (channel: string, outcome: string) => void
}

/** How many jobs of a name are in each state. */
type JobCounts = {
  name: string
  later: number
  ready: number
  running: number
  failed: number
}

/** How many deliveries are in a state, and the age of the oldest one. */
type DeliveryCounts = { state: string; count: number; oldestSeconds: number }

/** Values that are read when the metrics are scraped. */
export type MetricReadings = {
  pool: { totalCount: number; idleCount: number; waitingCount: number }
  /** The jobs of all instances; undefined where another process reports them. */
  countJobs?: () => Promise<JobCounts[]>
  /** The deliveries of all instances that have not ended; undefined likewise. */
  countDeliveries?: () => Promise<DeliveryCounts[]>
  isReady: () => Promise<boolean>
}

/**
 * Most responses take a few milliseconds; a check waits for slow servers, a capture for its
 * configured delay.
 */
const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The job behind a running migration. */
const MIGRATION_JOB = 'migration.run'

/** @param process its number, where a service has several: a label of every metric */
export function createMetrics(version: string, process?: number): ServiceMetrics {
  const registry = new Registry()
  if (process !== undefined) registry.setDefaultLabels({ process: String(process) })
  const registers = [registry]
  // Brings the delay of the event loop, memory, garbage collection and open files.
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED_METRICS) registry.removeSingleMetric(name)
  const labels = {
    name: 'portreeve_info',
    help: 'Always 1; the label has the running version.',
    labelNames: ['version'],
    registers,
  }
  new Gauge(labels).set({ version }, 1)
  const requests = new Histogram({
    name: 'portreeve_http_request_duration_seconds',
    help: 'HTTP requests and their duration by the pattern of their route, without webhook captures.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  })
  const captures = counter(
    'portreeve_captures_total',
    'Webhook requests: stored, gone (the endpoint was deleted meanwhile), failed or full (503; the sender retries).',
    ['outcome'],
  )
  const removals = counter(
    'portreeve_captures_removed_total',
    'Captured webhook requests removed early, by reason: quota or disk.',
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
  const reports = counter(
    'portreeve_attack_reports_total',
    'Attack reports: accepted, deduped, ignored, and requests that were limited.',
    ['outcome'],
  )
  const queries = counter(
    'portreeve_dns_queries_total',
    'DNS queries of the resolvers dns and dnsbl by RCODE, or by the reason for no answer.',
    ['resolver', 'outcome'],
  )
  const mailReports = counter(
    'portreeve_dmarc_reports_total',
    'DMARC and TLS reports by smtp, mailbox or upload: stored, duplicate, failure (about one message, not stored), unread (could not be parsed), foreign (of a domain that is not registered).',
    ['via', 'outcome'],
  )
  const attempts = counter(
    'portreeve_forwarding_attempts_total',
    'Attempts to forward a captured webhook request: delivered, status, redirect, unanswered (it may have arrived), timeout, unreachable or blocked.',
    ['outcome'],
  )
  const attemptDurations = new Histogram({
    name: 'portreeve_forwarding_attempt_duration_seconds',
    help: 'Duration of attempts to forward a captured webhook request.',
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 20, 60],
    registers,
  })
  const deliveryEnds = counter(
    'portreeve_forwarding_ended_total',
    'Deliveries of captured webhook requests that have ended: delivered, dead (after the last attempt) or unsendable.',
    ['state'],
  )
  for (const state of ['delivered', 'dead', 'unsendable']) deliveryEnds.inc({ state }, 0)
  const hostChecks = counter(
    'portreeve_looks_total',
    'Checks of monitored hosts: clean, listed, unknown or failed.',
    ['status'],
  )
  const alerts = counter(
    'portreeve_alerts_total',
    'Attempts to send an alert, by type of channel: sent, or failed (retried for hours).',
    ['channel', 'outcome'],
  )

  function counter<T extends string>(name: string, help: string, labelNames: T[]): Counter<T> {
    return new Counter({ name, help, labelNames, registers })
  }

  return {
    registry,
    observeRequests(app) {
      app.addHook('onResponse', ({ method, routeOptions }, { statusCode, elapsedTime }, done) => {
        requests.observe(
          { method, route: routeOptions.url ?? 'unknown', status: statusCode },
          elapsedTime / 1000,
        )
        done()
      })
    },
    countCapture: (outcome) => captures.inc({ outcome }),
    countForwardingAttempt(kind, durationMs) {
      attempts.inc({ outcome: kind ?? 'delivered' })
      attemptDurations.observe(durationMs / 1000)
    },
    countForwardingEnd: (state) => deliveryEnds.inc({ state }),
    countRemovedCaptures: (reason, sum) => removals.inc({ reason }, sum),
    // Created on the first value: without monitoring, 0 would be an alarm.
    setFreeBytes: (freeBytes) => (free ??= createFree()).set(freeBytes),
    countAttackReport: (outcome) => reports.inc({ outcome }),
    countDnsQuery: (resolver, outcome) => queries.inc({ resolver, outcome }),
    countMailReports: (via, outcome, sum) => mailReports.inc({ via, outcome }, sum),
    countHostCheck: (status) => hostChecks.inc({ status }),
    countAlertAttempt: (channel, outcome) => alerts.inc({ channel, outcome }),
  }
}

/**
 * Adds the gauges that are read at every scrape: connections, the queue, and whether the database
 * is available.
 */
export function addReadings(
  { registry }: ServiceMetrics,
  { pool, countJobs, countDeliveries, isReady }: MetricReadings,
): void {
  const gauge = <T extends string>(name: string, help: string, labelNames: T[], read: Read<T>) =>
    new Gauge({
      name: `portreeve_${name}`,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        this.reset()
        // While the database is unavailable these have no values, and the other metrics stay
        // readable.
        for (const [labels, value] of await read().catch(() => [])) this.set(labels, value)
      },
    })

  gauge('database_up', '1 if the database responds within two seconds.', [], async () => [
    [{}, Number(await isReady())],
  ])
  gauge(
    'database_connections',
    'Database connections of this instance, used and idle.',
    ['state'],
    async () => [
      [{ state: 'used' }, pool.totalCount - pool.idleCount],
      [{ state: 'idle' }, pool.idleCount],
    ],
  )
  gauge('database_waiting', 'Queries waiting for a database connection.', [], async () => [
    [{}, pool.waitingCount],
  ])
  if (countDeliveries) {
    gauge(
      'forwarding_deliveries',
      'Deliveries of captured webhook requests of all instances that are waiting, or held by a paused destination.',
      ['state'],
      async () => (await countDeliveries()).map(({ state, count }) => [{ state }, count]),
    )
    gauge(
      'forwarding_oldest_seconds',
      'Seconds since the oldest delivery that is waiting, or held, was added.',
      ['state'],
      async () =>
        (await countDeliveries()).map(({ state, oldestSeconds }) => [{ state }, oldestSeconds]),
    )
  }
  if (!countJobs) return
  gauge(
    'jobs',
    'Jobs of all instances that are later, ready, running, or failed within the last day.',
    ['queue', 'state'],
    async () => (await countJobs()).flatMap(statesOf),
  )
  gauge('migrations_running', 'Running migrations of all instances.', [], async () => {
    const running = (await countJobs()).find(({ name }) => name === MIGRATION_JOB)?.running ?? 0
    return [[{}, running]]
  })
}

/** Adds gauges of the archive of backups. Times that do not exist yet have no value. */
export function addBackupReadings(
  { registry }: ServiceMetrics,
  readStatus: () => ArchiveStatus | null,
): void {
  const gauge = (name: string, help: string, read: (status: ArchiveStatus) => number | null) =>
    new Gauge({
      name: `portreeve_backup_${name}`,
      help,
      registers: [registry],
      collect() {
        const status = readStatus()
        const value = status && read(status)
        if (value === null) this.remove()
        else this.set(value)
      },
    })
  const seconds = (time: string | null) => (time === null ? null : new Date(time).getTime() / 1000)
  gauge(
    'archived_timestamp_seconds',
    'Everything committed before is in BACKUP_ARCHIVE.',
    (status) => seconds(status.archivedUntil),
  )
  gauge('base_timestamp_seconds', 'The end of the newest base backup.', (status) =>
    seconds(status.baseAt),
  )
  gauge('pending_bytes', 'WAL that waits to be archived.', ({ pendingBytes }) => pendingBytes)
  gauge('failing', '1 while BACKUP_ARCHIVE cannot be written.', ({ problem }) =>
    Number(problem !== null),
  )
}

type Read<T extends string> = () => Promise<[labels: LabelValues<T>, value: number][]>

function statesOf({ name: queue, ...counts }: JobCounts) {
  return Object.entries(counts).map(
    ([state, count]): [{ queue: string; state: string }, number] => [{ queue, state }, count],
  )
}
