// A thousand monitored addresses on ninety lists: the first check, which stores every result, and a
// later one, which finds no change.
import { cpus, loadavg } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { sql } from 'kysely'
import { createLog } from '../../src/log.ts'
import { CHECK_INTERVALS } from '../../src/monitoring/limits.ts'
import type { HostCheckDeps } from '../../src/monitoring/checks/deps.ts'
import { createRateLimiter } from '../../src/monitoring/checks/rate-limiter.ts'
import { checkDueHosts } from '../../src/monitoring/checks/host-sweep.ts'
import { createResolver, type Resolver } from '../../src/net/dns.ts'
import { readCatalogue, type Catalogue } from '../../src/protocols/dnsbl/blocklist-catalogue.ts'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createBlocklists } from '../../src/protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../../src/protocols/dnsbl/sweep-address.ts'
import { openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate-schema.ts'
import type { DB } from '../../src/store/tables.ts'
import type { Kysely } from 'kysely'
import { startPostgres } from '../../test/servers/postgres.ts'
import { startRbldnsd, type Rbldnsd } from '../../test/servers/rbldnsd.ts'
import { inLiveWorkspaces } from '../../test/jobs/context.ts'

const ZONES = 90
const HOSTS = 1_000
const ROUNDS = 3
const WARM_UP = 50

/** Takes some half a minute. Returns the printed table. */
export async function run(): Promise<string> {
  const catalogue = openCatalogue()
  const zones = Object.fromEntries(catalogue.lists.map(({ zone }) => [zone, {}]))
  const [postgres, lists] = await Promise.all([
    startPostgres('embedded'),
    startRbldnsd(zones, { log: false }),
  ])
  const { db, pool, close } = openDatabase(postgres.url)
  try {
    await migrate(pool)
    await addHosts(db)
    const { deps, asked } = open(db, catalogue, lists)
    // The warm-up establishes the health of the lists and compiles the code.
    for (let n = 1; n <= WARM_UP; n++)
      await sweepAddress(`8.7.6.${n}`, deps.blocklists, AbortSignal.timeout(9_000))
    const first = await measure(deps, asked)
    const later: Figures[] = []
    for (let round = 0; round < ROUNDS; round++) later.push(await measure(deps, asked))
    return table(
      first,
      later.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(ROUNDS / 2)] as Figures,
    )
  } finally {
    await close()
    await Promise.all([postgres.stop(), lists.stop()])
  }
}

/** The first lists that need no key, all enabled. */
function openCatalogue(): Catalogue {
  const lists = readCatalogue().lists.filter(({ access }) => access !== 'key')
  return { lists: lists.slice(0, ZONES).map((list) => ({ ...list, enabled: true })), warnings: [] }
}

function open(
  db: Kysely<DB>,
  catalogue: Catalogue,
  server: Rbldnsd,
): { deps: HostCheckDeps; asked: () => number } {
  let asked = 0
  const own = createResolver({ servers: [server] })
  const resolver: Resolver = {
    servers: own.servers,
    query(...question) {
      asked += 1
      return own.query(...question)
    },
  }
  const blocklists = createBlocklists({ catalogue, keys: new Map(), resolver })
  const rest = {
    intervals: CHECK_INTERVALS,
    waitForTurn: createRateLimiter(0),
    allowPrivate: false,
    log: createLog('warn'),
  } as const
  return { deps: { db, resolver, blocklists, ...rest }, asked: () => asked }
}

async function addHosts(db: Kysely<DB>): Promise<void> {
  const account = { email: 'bench@bench.test', password: 'a password of the benchmark' }
  const { id } = await createAccount(db, { ...account, plan: 'free' })
  await sql`
    insert into monitored_host (workspace_id, host)
    select ${id}::uuid, '8.8.' || n / 250 || '.' || n % 250 + 1 from generate_series(0, ${HOSTS - 1}) as n`.execute(
    db,
  )
}

type Figures = {
  seconds: number
  asked: number
  lost: number
  cpu: number
  delayP50: number
  delayP99: number
}

/** One full check of all hosts. */
async function measure(deps: HostCheckDeps, asked: () => number): Promise<Figures> {
  await sql`update monitored_host set full_due_at = now() - interval '1 second'`.execute(deps.db)
  const delay = monitorEventLoopDelay({ resolution: 5 })
  const [before, cpu, started] = [asked(), process.cpuUsage(), performance.now()]
  delay.enable()
  const looked = await checkDueHosts(deps, inLiveWorkspaces(AbortSignal.timeout(300_000)))
  delay.disable()
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpu)
  if (looked !== HOSTS) throw new Error(`${looked} of ${HOSTS} hosts were looked at`)
  return {
    seconds,
    asked: asked() - before,
    lost: await countLost(deps.db),
    cpu: (user + system) / 1e6,
    delayP50: delay.percentile(50) / 1e6,
    delayP99: delay.percentile(99) / 1e6,
  }
}

/** Counts missing results: every list is healthy, so each must answer “not listed”. */
async function countLost(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ lost: number }>`
    select ${HOSTS * ZONES} - sum(total_checked - unknown_count - listed_count)::int as lost from monitored_host`.execute(
    db,
  )
  return rows[0]?.lost ?? NaN
}

function table(first: Figures, later: Figures): string {
  return [
    `| ${HOSTS} addresses × ${ZONES} lists | seconds | look-ups/s | lost | CPU s | loop delay p50 ms | p99 ms |`,
    '|---|---|---|---|---|---|---|',
    row('first look, all written down', first),
    row('later look, nothing new', later),
    '',
    `${cpus().length} cores, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}, ${new Date().toISOString().slice(0, 10)}.`,
  ].join('\n')
}

function row(name: string, { seconds, asked, lost, cpu, delayP50, delayP99 }: Figures): string {
  const perSecond = Math.round(asked / seconds).toLocaleString('en')
  return `| ${name} | ${seconds.toFixed(2)} | ${perSecond} | ${lost} | ${cpu.toFixed(2)} | ${delayP50.toFixed(1)} | ${delayP99.toFixed(1)} |`
}

if (import.meta.main) console.log(await run())
