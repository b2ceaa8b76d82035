import { closeIncident } from '../../alerts/incidents.sql.ts'
import { raiseAlert } from '../../alerts/raise.ts'
import { performAction } from '../../delisting/delisting-actions.ts'
import {
  createProcess,
  type CreateDeps,
  type ProcessRequest,
} from '../../delisting/create-process.ts'
import { delistingJob } from '../../delisting/delisting-jobs.ts'
import { processDueSteps } from '../../delisting/delisting-scheduler.ts'
import { createCheckServices } from '../../diagnostics/check-services.ts'
import { checkDomain } from '../../domains/check-domain.ts'
import { createRegistrationLookup } from '../../domains/registration-lookup.ts'
import { sweepDomains } from '../../domains/watch/watch-jobs.ts'
import { recordCheck } from '../../domains/watch/record-domain-check.ts'
import { CHECK_INTERVALS, HOST_LEASE_SECONDS } from '../../monitoring/limits.ts'
import { checkHost } from '../../monitoring/checks/check-host.ts'
import { FULL_CHECK } from '../../monitoring/checks/plan-checks.ts'
import { claimHost } from '../../monitoring/checks/host-checks.sql.ts'
import { createDomainLists } from '../../protocols/dnsbl/domain-lists.ts'
import { HOUR_MS, MINUTE_MS } from '../../time.ts'
import { ADDRESSES, DOMAINS, LISTINGS, REGISTRIES } from '../recording.ts'
import { listDelistingSteps, listHosts, markAlertsSent, rewrite } from '../demo.sql.ts'
import { daysAgo, type Seed } from './seed-context.ts'

/** Besides the hosts of watched domains. */
const HOSTS = [
  { host: 'mail.seagull.example', label: 'Mail server', tlsPorts: [25, 587, 993] },
  { host: 'relay.seagull.example', label: 'Newsletter', tlsPorts: [] },
  { host: 'shop.seagull.example', label: 'Shop', tlsPorts: [443] },
]

const OTHER_LABELS = [
  ['seagull.example', 'Website'],
  ['seagull-shop.example', 'Old shop'],
  ['gullpress.example', 'Press'],
] as const

type Services = ReturnType<typeof createCheckServices>['deps']
type HostSeed = Seed & { services: Services; signal: AbortSignal }

/** Something that happens a number of days before now. */
type Step = { days: number; run: () => Promise<unknown> }

/** Watched domains, monitored hosts with their last three months, and delistings. */
export async function seedHosts(seed: Seed): Promise<void> {
  const { recording, db } = seed
  const checks = createCheckServices(seed.config, seed.log)
  const own = { ...seed, services: checks.deps, signal: AbortSignal.timeout(15 * MINUTE_MS) }
  recording.at = daysAgo(90)
  await addHosts(own)
  const steps = [...(await hostSteps(own)), ...domainSteps(own), ...delistingSteps(own)]
  for (const { days, run } of steps.toSorted((one, other) => other.days - one.days)) {
    recording.at = daysAgo(days)
    await run()
    await markAlertsSent(db, recording.at)
  }
  recording.at = null
  checks.close()
}

async function addHosts({ db, call }: HostSeed): Promise<void> {
  for (const host of HOSTS) await call('/api/v1/monitoring/hosts', host)
  for (const domain of DOMAINS) await call(`/api/v1/domains/${domain}/watch`, {})
  await rewrite(db, 'monitored_host', { created_at: daysAgo(90) }, {})
  await rewrite(db, 'watched_domain', { created_at: daysAgo(90) }, {})
  for (const [host, label] of OTHER_LABELS) await rewrite(db, 'monitored_host', { label }, { host })
}

/** Checks of all hosts: regular ones, and those that notice and confirm a change. */
async function hostSteps(seed: HostSeed): Promise<Step[]> {
  const { db, log, recording, services, signal } = seed
  const deps = { ...services, db, log, intervals: CHECK_INTERVALS, waitForTurn: async () => {} }
  const hosts = await listHosts(db)
  const run = async () => {
    const at = recording.at ?? new Date()
    for (const { id } of hosts) {
      const host = await claimHost(db, id, HOST_LEASE_SECONDS)
      // As if it had been checked every hour.
      const lastCheckAt = host?.lastCheckAt ? new Date(at.getTime() - HOUR_MS / 2) : null
      if (host) await checkHost({ ...host, lastCheckAt }, deps, signal, FULL_CHECK, at)
    }
  }
  const changes = LISTINGS.flatMap(({ from, to }) => [from, ...(to === undefined ? [] : [to])])
  const moments = changes.flatMap((days) => [days - 0.001, days - 0.006])
  const ofRecords = [61.95, 61.94, 29.95, 29.94]
  return [89.9, 45, 20, 10, 4, 1, 0.003, ...moments, ...ofRecords].map((days) => ({ days, run }))
}

/** Checks of the watched domains: regular ones, and those that notice and confirm a change. */
function domainSteps({ db, recording, services, signal, workspaceId }: HostSeed): Step[] {
  const checks = {
    ...services,
    domainLists: createDomainLists(services.blocklists),
    registrations: createRegistrationLookup({ ...services, servers: REGISTRIES }),
    selectorsSeen: async () => ['2026a', 'news'],
  }
  const inWorkspace = <T>(_id: string, work: (own: AbortSignal) => Promise<T>) => work(signal)
  const sweep = { db, resolver: services.resolver, inWorkspace }
  const run = async () => {
    const at = recording.at ?? new Date()
    await sweepDomains(sweep, signal, at)
    for (const domain of DOMAINS) {
      const report = await checkDomain(domain, checks, signal)
      await recordCheck(db, workspaceId, { ...report, checkedAt: at.toISOString() })
    }
  }
  return [89.8, 61.9, 61.8, 45, 29.9, 29.8, 12, 1, 0.01].map((days) => ({ days, run }))
}

/** One delisting that is complete, and one that waits for a person. */
function delistingSteps(seed: HostSeed): Step[] {
  const { config, db, recording, services, signal, workspaceId } = seed
  const deps = {
    ...services,
    db,
    relay: { smtpUrl: config.SMTP_URL ?? '', from: config.MAIL_FROM },
    raiseAlert,
    closeIncident,
    now: () => recording.at ?? new Date(),
    isToldElsewhere: async () => false,
  }
  // The steps below do what the job would.
  const queue = { enqueue: async () => true } as unknown as CreateDeps['queue']
  const creating = { ...deps, queue, job: delistingJob(deps) }
  const inWorkspace = <T>(_id: string, work: (own: AbortSignal) => Promise<T>) => work(signal)
  const process = () => processDueSteps(deps, { signal, inWorkspace })
  const create = (request: ProcessRequest) => createProcess(creating, workspaceId, request, signal)
  const submit = async () => {
    const open = await listDelistingSteps(db)
    for (const { id: stepId, processId: id } of open)
      await performAction(creating, 'submitted', { workspaceId, id, stepId }, {}, signal)
  }
  const cause = 'A mailbox with a guessed password sent spam for two hours.'
  const fix = 'The password was replaced, and the queue was emptied on the same evening.'
  const processed = [40.79, 39, 37, 36.3, 36.2, 36, 35, 34, 33, 2.09, 1.5, 0.9, 0.4, 0.01]
  return [
    { days: 40.8, run: () => create({ ip: ADDRESSES.mail, cause, fix }) },
    { days: 40.7, run: submit },
    { days: 2.1, run: () => create({ ip: ADDRESSES.newsletter }) },
    ...processed.map((days) => ({ days, run: process })),
  ]
}
