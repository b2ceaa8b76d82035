// `node bench/abuse/turns.ts FOLDER [ROUNDS]`: reports over HTTP to this checkout and to another
// one of the repository, in turn; with PORTREEVE, to the installed package in that folder instead of
// this checkout. Each is the whole service, with the PostgreSQL that it ships and a database of its
// own.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/free-port.ts'
import { listProcesses, type ProcessUsage } from '../process-usage.ts'
import { load } from './load.ts'
import { reportOf, reportRequest } from './run.ts'

const CONNECTIONS = 64
const WARM_UP = 20_000
/** Reports in one turn. */
const REPORTS = 10_000
const ROUNDS = 8
const START_TIMEOUT_MS = 60_000

type Side = { url: string; process: ChildProcess; sent: number }
type Turn = { perSecond: number; serviceUs: number; databaseUs: number }

/** Reports over IPv6, where the /48 is limited as well: one more row per report. */
function reportOverIPv6(n: number): string {
  const site = n % 5_000
  return reportRequest(
    n,
    `2a0${site % 10}:${(site >> 4).toString(16)}:${site.toString(16)}:${(n % 3) + 1}::1`,
  )
}

async function startSide(folder: string, undo: AsyncDisposableStack): Promise<Side> {
  const dataDir = mkdtempSync(join(tmpdir(), 'portreeve-turns-'))
  undo.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  const port = await freePort()
  const child = spawn(process.execPath, [join(folder, 'bin', 'portreeve.js'), 'serve'], {
    cwd: dataDir,
    env: {
      PATH: process.env['PATH'],
      NODE_OPTIONS: process.env['PROF']
        ? `--cpu-prof --cpu-prof-dir=${process.env['PROF']}/${folder.split('/').at(-1)}`
        : '',
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: String(port),
      SMTP_LISTEN: 'off',
      LOG_LEVEL: 'warn',
      TRUSTED_PROXIES: '127.0.0.1',
      REQUEST_LIMITS: 'off',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  undo.defer(() => stop(child))
  const url = `http://127.0.0.1:${port}`
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!(await isReady(url))) {
    if (performance.now() > deadline || child.exitCode !== null)
      throw new Error(`${folder} did not start`)
    await sleep(100)
  }
  return { url, process: child, sent: 0 }
}

const isReady = (url: string) =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

async function takeTurn(
  side: Side,
  reports: number,
  requestOf: (n: number) => string,
): Promise<Turn> {
  const from = side.sent
  side.sent += reports
  const before = cpuSeconds(side.process.pid)
  const { seconds, statuses } = await load(side.url, {
    connections: CONNECTIONS,
    requests: reports,
    requestOf: (n) => requestOf(from + n),
  })
  if (statuses.get(200) !== reports)
    throw new Error(`${side.url}: ${JSON.stringify([...statuses])}`)
  const after = cpuSeconds(side.process.pid)
  const usOf = (part: 'service' | 'database') => ((after[part] - before[part]) * 1e6) / reports
  return { perSecond: reports / seconds, serviceUs: usOf('service'), databaseUs: usOf('database') }
}

/** Processor time of the service and of its child processes, those of PostgreSQL. */
function cpuSeconds(pid: number | undefined): { service: number; database: number } {
  const processes = listProcesses()
  const parents = new Map(processes.map((one) => [one.pid, one.parent]))
  const isDescendant = (child: number): boolean =>
    child === pid || (parents.has(child) && isDescendant(parents.get(child) ?? 0))
  const secondsOf = (some: ProcessUsage[]) =>
    some.reduce((sum, { seconds, endedSeconds }) => sum + seconds + endedSeconds, 0)
  const all = processes.filter((one) => isDescendant(one.pid))
  const service = secondsOf(all.filter((one) => one.pid === pid))
  return { service, database: secondsOf(all) - service }
}

const median = (numbers: number[]) => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2
}

/**
 * @returns lines of a table: both sides' medians, and the median and the range of each round's
 *   ratio
 */
async function compare(
  what: string,
  here: Side,
  there: Side,
  rounds: number,
  requestOf: (n: number) => string,
) {
  for (const side of [there, here]) await takeTurn(side, WARM_UP, requestOf)
  const pairs: { here: Turn; there: Turn }[] = []
  for (let round = 0; round < rounds; round++) {
    const turns = new Map<Side, Turn>()
    // The order alternates from round to round.
    for (const side of round % 2 === 0 ? [there, here] : [here, there])
      turns.set(side, await takeTurn(side, REPORTS, requestOf))
    pairs.push({ here: turns.get(here) as Turn, there: turns.get(there) as Turn })
  }
  const of = (measure: keyof Turn, unit: string) => {
    const ratios = pairs.map((pair) => pair.here[measure] / pair.there[measure])
    const cells = [
      Math.round(median(pairs.map((pair) => pair.there[measure]))).toLocaleString('en'),
      Math.round(median(pairs.map((pair) => pair.here[measure]))).toLocaleString('en'),
      median(ratios).toFixed(3),
      `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
    ]
    return `| ${what}, ${unit} | ${cells.join(' | ')} |`
  }
  return [
    of('perSecond', 'reports/s'),
    of('serviceUs', 'µs of processor, service'),
    of('databaseUs', 'µs of processor, PostgreSQL'),
  ].join('\n')
}

const [folder, rounds = String(ROUNDS)] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Usage: node bench/abuse/turns.ts FOLDER [ROUNDS]')
  process.exit(2)
}
await using undo = new AsyncDisposableStack()
const there = await startSide(resolve(folder), undo)
const here = await startSide(
  process.env['PORTREEVE'] ?? resolve(import.meta.dirname, '..', '..'),
  undo,
)
console.log(
  '| in turn | other | this | ratio, median | ratio of each round |\n|---|---|---|---|---|',
)
console.log(await compare('IPv4 reporters', here, there, Number(rounds), reportOf))
console.log(await compare('IPv6 reporters', here, there, Number(rounds), reportOverIPv6))
