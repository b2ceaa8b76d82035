// Replays attacks on the list itself, and real attackers, against the scoring model, and prints
// what becomes of them. Run with: node bench/abuse/simulate.ts; it takes about a minute. Appeals
// are played on a database of their own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { appeal } from '../../src/abuse/appeals/appeals.ts'
import { describeAddress } from '../../src/abuse/lookup/check-address.ts'
import { openAttackList, type AttackList } from '../../src/abuse/attack-list.ts'
import {
  absorb,
  assess,
  KNOWN_ORIGIN,
  type Assessment,
  type Circumstances,
  type Evidence,
  type Standing,
  type State,
} from '../../src/abuse/scoring/score.ts'
import { createReporters, type Reporter } from '../../src/abuse/reputation/reporter.ts'
import { serviceOf } from '../../src/abuse/services.ts'
import { readSubject } from '../../src/abuse/subject.ts'
import { NO_SYSTEMS, readSystems, type Systems } from '../../src/abuse/reputation/systems.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { startEmbedded } from '../../src/store/embedded.ts'
import { migrate } from '../../src/store/migrate-schema.ts'
import { openNotifications } from '../../src/store/notifications.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const USUAL: Circumstances = {
  shared: false,
  probation: false,
  bootstrap: true,
  wellKnown: false,
  confirmed: false,
}
const RUNS = 100
/** Number of autonomous systems with reporters. */
const SYSTEMS = 400

/** Width of the scenario column in the table. */
const WIDTH = 80

const lines: string[] = []

type Seen = {
  system: number
  network?: number
  standing?: Standing
  service?: string
  count?: number
}
type Witness = Pick<Reporter, 'network' | 'origin'>

/** One simulated address over time. */
function openCase(circumstances: Partial<Circumstances> = {}) {
  const around = { ...USUAL, ...circumstances }
  let [evidence, state]: [Evidence[], State] = [[], 'none']
  function look(now: number): Assessment {
    const seen = assess(state, evidence, around, now, serviceOf)
    state = seen.state
    return seen
  }
  function report(now: number, { system, network = 0, count = 5, ...seen }: Seen): Assessment {
    const witness = { network: `${system}/${network}`, origin: `${KNOWN_ORIGIN}${system}` }
    return hear(now, witness, { ...seen, count })
  }
  function hear(
    now: number,
    { network, origin }: Witness,
    { standing = 'new', service = 'ssh', count = 60 }: Omit<Seen, 'system' | 'network'> = {},
  ): Assessment {
    const who = { network, origin, standing, service, port: null, count }
    evidence = absorb(evidence, who, {
      now,
      counted: true,
      shared: around.shared,
      traitsOf: serviceOf,
    })
    return look(now)
  }
  return { look, report, hear }
}

/** The same random numbers in each run of the program (mulberry32). */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

function someone(next: () => number, established: number): Seen {
  return {
    system: Math.floor(next() * SYSTEMS),
    network: Math.floor(next() * 4),
    standing: next() < established ? 'established' : 'new',
    count: 1 + Math.floor(next() * 20),
  }
}

/** Milliseconds until the next report, for a number of reports an hour. */
const wait = (next: () => number, anHour: number) => (-Math.log(1 - next()) / anHour) * HOUR

function print(what: string, { score, state, confidence, awaiting }: Assessment): void {
  const shown = awaiting ? 'waits for an administrator' : state
  lines.push(
    `${what.padEnd(WIDTH)} ${score.toFixed(1).padStart(5)}  ${shown.padEnd(9)}  ${confidence}`,
  )
}

function poisoners(): void {
  const flood = openCase()
  for (let now = 0; now < DAY; now += 10 * MINUTE) flood.report(now, { system: 1, count: 255 })
  print('S1  one newcomer’s /24 floods for a day', flood.look(DAY))
  print('S2  50 newcomers of one system for a week', sybils('new'))
  print('S3  50 trusted networks of one system for a week', sybils('trusted'))
  for (const many of [2, 5, 6, 10, 50])
    for (const bootstrap of [true, false])
      print(
        `S4  newcomers of ${many} systems, ${bootstrap ? 'young' : 'grown'} network`,
        proxies(many, bootstrap),
      )
  print('S4b two established networks of two systems', together('established', 'established'))
  print('S4c one established network and one newcomer', together('established', 'new'))
  print(
    'S4d grown network: one established network turned hostile, and three newcomers',
    together('established', 'new', 'new', 'new'),
  )
  const claimed = openCase({ bootstrap: false })
  for (let system = 0; system < 5; system++)
    claimed.report(0, {
      system,
      standing: system < 2 ? 'established' : 'new',
      service: system < 2 ? 'syn-flood' : 'ssh',
      count: 60,
    })
  print(
    'S4e grown network: three newcomers, two established see a forged flood',
    claimed.look(HOUR),
  )
  const forged = openCase()
  for (let system = 0; system < 40; system++)
    forged.report(0, { system, service: 'syn-flood', standing: system < 4 ? 'established' : 'new' })
  print('    40 networks see a SYN flood, whose sender can be forged', forged.look(HOUR))
}

/** One address of each of six providers, as the shipped table has them. */
const AT_SIX_PROVIDERS = [
  '88.198.1.1',
  '51.68.1.1',
  '90.11.1.1',
  '81.2.69.160',
  '104.131.1.1',
  '193.0.6.1',
]

/** Addresses of machines that an attacker can rent. The service classifies them. */
function cheapMachines(): void {
  const shipped = readSystems(null)
  const six = ['11.1.1.1', '12.1.1.1', '13.1.1.1', '14.1.1.1', '15.1.1.1', '16.1.1.1']
  print('S10 six cheap addresses in six /16s, no table', accused(six, NO_SYSTEMS))
  const one = ['88.198.1.1', '5.9.1.1', '78.46.1.1', '136.243.1.1', '5.161.1.1', '5.223.1.1']
  print('S11 six in six /16s, three systems of one provider', accused(one, shipped))
  print('S12 six at six providers', accused(AT_SIX_PROVIDERS, shipped))
  print(
    '    six at six providers, 23 hours after their last report',
    accused(AT_SIX_PROVIDERS, shipped, {}, 23 * HOUR),
  )
  print(
    '    six at six providers, a day after their last report',
    accused(AT_SIX_PROVIDERS, shipped, {}, DAY),
  )
  print(
    '    six at six providers, after the owner’s appeal',
    accused(AT_SIX_PROVIDERS, shipped, { probation: true }),
  )
  print(
    '    six at six providers, about a root name server',
    accused(AT_SIX_PROVIDERS, shipped, { wellKnown: true }),
  )
  const groups = Array.from({ length: 65_536 }, (_, n) => n.toString(16))
  const site = groups.map((group) => `2a01:4f8:77:${group}::1`)
  print('S13 all 65,536 /64s of a /48', accused(site, shipped))
  const block = groups.filter((_, n) => n % 64 === 0).map((group) => `2a01:4f8:${group}::1`)
  print('    1,024 /48s of a /32', accused(block, shipped))
  const register = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => `2a0e:4f4${n}:1::1`)
  print('    the eight /32s of a /29, no table', accused(register, NO_SYSTEMS))
  const disguised = ['11.1.1.1', '2002:b01:101::1', '2001:0:5:6::f4fe:fefe', '64:ff9b::b01:101']
  print('S14 one IPv4 address, also by 6to4, Teredo and NAT64', accused(disguised, shipped))
}

function accused(
  addresses: string[],
  systems: Systems,
  circumstances: Partial<Circumstances> = {},
  later = 0,
): Assessment {
  const reporterOf = createReporters('the key of the simulation', (ip) => systems.find(ip))
  const story = openCase(circumstances)
  for (const now of [0, HOUR]) for (const address of addresses) story.hear(now, reporterOf(address))
  return story.look(HOUR + later)
}

/** Attack reporting as the service runs it, without HTTP, on a database of its own. */
async function openService(clock: () => number, undo: AsyncDisposableStack): Promise<AttackList> {
  const dataDir = mkdtempSync(join(tmpdir(), 'portreeve-simulate-'))
  undo.defer(() => rmSync(dataDir, { recursive: true }))
  const log = createLog('silent')
  const embedded = await startEmbedded({ dataDir, log })
  undo.defer(() => embedded.stop())
  const { db, pool, close } = openDatabase(embedded.url)
  undo.defer(close)
  await migrate(pool)
  const notifications = await openNotifications(embedded.url, log)
  undo.defer(() => notifications.close())
  const [secretKey, url] = ['the key of the simulation, long enough', 'http://simulation.test']
  const services = await openAttackList({
    db,
    pool,
    notifications,
    log,
    secretKey,
    reportsUrl: url,
    baseUrl: url,
    clock,
    systems: readSystems(null),
  })
  undo.defer(() => services.close())
  return services
}

/**
 * Six machines get an address listed. Strangers then appeal for it, to use up the owner’s appeals,
 * and finally the owner appeals.
 */
async function appeals(): Promise<void> {
  let now = Date.now()
  await using undo = new AsyncDisposableStack()
  const services = await openService(() => now, undo)

  async function accuse(ip: string): Promise<void> {
    const reports = [{ subject: readSubject(ip), service: 'ssh', port: null, count: 60 }]
    for (const address of AT_SIX_PROVIDERS)
      await services.submit({
        reporter: services.reporterOf(address),
        tokenHash: null,
        reports,
      })
  }
  const ask = (from: string, ip: string) =>
    appeal(
      services.db,
      { subject: readSubject(ip), reason: '-', reporter: services.reporterOf(from) },
      now,
    ).then(
      ({ status }): string => status,
      ({ code }: { code?: string }) => String(code),
    )
  async function play(what: string, ip: string, strangers: string[]): Promise<void> {
    await accuse(ip)
    now += HOUR
    await accuse(ip)
    const answers: string[] = []
    for (const from of strangers) answers.push(await ask(from, ip))
    const count = (answer: string) => answers.filter((one) => one === answer).length
    const own = await ask(ip, ip)
    const subject = readSubject(ip)
    const { score, listingState } = describeAddress(
      subject,
      await services.lookup(subject.key),
      services,
      now,
    )
    const strangersAppeals = `${count('open')} waiting, ${count('rate_limited')} over a limit, ${count('granted')} granted`
    lines.push(
      `${what.padEnd(WIDTH)} ${score.toFixed(1).padStart(5)}  ${listingState}; owner’s appeal ${own}; others: ${strangersAppeals}`,
    )
  }

  await play('S15 appeals from six providers before the owner’s', '9.1.1.1', AT_SIX_PROVIDERS)
  const neighbours = Array.from({ length: 40 }, (_, n) => `9.1.2.${n + 2}`)
  await play(
    '    appeals from 40 addresses of the owner’s /24 before the owner’s',
    '9.1.2.1',
    neighbours,
  )
  const site = Array.from({ length: 40 }, (_, n) => `2a01:4f8:77:${(n + 2).toString(16)}::1`)
  await play(
    '    appeals from 40 /64s of the owner’s /48 before the owner’s',
    '2a01:4f8:77:1::1',
    site,
  )
}

function sybils(standing: Standing): Assessment {
  const story = openCase()
  for (let now = 0; now < 7 * DAY; now += 6 * HOUR)
    for (let network = 0; network < 50; network++)
      story.report(now, { system: 1, network, standing, count: 255 })
  return story.look(7 * DAY)
}

function proxies(many: number, bootstrap: boolean): Assessment {
  const story = openCase({ bootstrap })
  for (let now = 0; now <= 2 * HOUR; now += 10 * MINUTE)
    for (let system = 0; system < many; system++) story.report(now, { system, count: 60 })
  return story.look(2 * HOUR)
}

/** One network per standing, each in a different autonomous system. */
function together(...standings: Standing[]): Assessment {
  const story = openCase({ bootstrap: false })
  standings.forEach((standing, system) => story.report(0, { system, standing, count: 60 }))
  return story.look(HOUR)
}

type Attack = {
  anHour: number
  hours: number
  established?: number
  bootstrap?: boolean
  shared?: boolean
}

/**
 * When the address was listed, and how long after its last report it stayed listed, in
 * milliseconds; null if it never was.
 */
function attack(seed: number, { anHour, hours, established = 0.1, ...circumstances }: Attack) {
  const next = random(seed)
  const story = openCase(circumstances)
  let listedAt: number | null = null
  let last = 0
  for (let now = wait(next, anHour); now < hours * HOUR; now += wait(next, anHour)) {
    last = now
    if (story.report(now, someone(next, established)).state === 'listed') listedAt ??= now
  }
  if (listedAt === null) return null
  let end = last
  while (story.look(end).state === 'listed') end += 2 * HOUR
  return { listedAt, kept: end - last }
}

function attackers(): void {
  for (const anHour of [40, 10, 4, 1])
    describe(`S5  a bot that ${anHour} networks an hour see`, { anHour, hours: 120 / anHour + 6 })
  const nobody = { anHour: 10, hours: 24, established: 0 }
  describe('S5b 10 an hour, none of them established, grown network', {
    ...nobody,
    bootstrap: false,
  })
  describe('S5c 10 an hour, none of them established, young network', nobody)
  for (const aDay of [8, 4, 2, 1])
    describe(`S6  low and slow: ${aDay} networks a day see it`, {
      anHour: aDay / 24,
      hours: 30 * 24,
    })
  for (const shared of [false, true]) {
    const flag = shared ? 'flagged as shared' : 'not flagged'
    describe(`S7  six bad hours of one of many behind an address, ${flag}`, {
      anHour: 4,
      hours: 6,
      shared,
    })
  }
}

function others(): void {
  const quick = openCase()
  for (let n = 0; n < 40; n++)
    quick.report(n * 7_000, { system: n, standing: n % 10 === 0 ? 'established' : 'new' })
  print('S5d 40 networks inside five minutes', quick.look(5 * MINUTE))
  const mistake = openCase()
  const mistyped = mistake.report(0, { system: 1, standing: 'established' })
  print('S9  somebody mistypes the own password at an established server', mistyped)
  print('    ten days later', mistake.look(10 * DAY))
}

function describe(what: string, story: Attack): void {
  const runs = Array.from({ length: RUNS }, (_, seed) => attack(seed + 1, story)).filter(
    (one) => one !== null,
  )
  const share = `${Math.round((100 * runs.length) / RUNS)} %`.padStart(5)
  const times = runs.length === 0 ? '' : timesOf(runs)
  lines.push(`${what.padEnd(WIDTH)} ${share}  listed${times}`)
}

function timesOf(runs: { listedAt: number; kept: number }[]): string {
  const median = (values: number[]) =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
  const minutes = median(runs.map(({ listedAt }) => listedAt)) / MINUTE
  const after = minutes < 600 ? `${minutes.toFixed(0)} min` : `${(minutes / 1440).toFixed(1)} days`
  return `, median after ${after}; ends ${(median(runs.map(({ kept }) => kept)) / DAY).toFixed(1)} days after the last report`
}

/** Simulates attacks on the list itself. @returns one line per attack */
export async function playAttacks(): Promise<string[]> {
  poisoners()
  cheapMachines()
  await appeals()
  return lines.splice(0)
}

/** Runs every scenario. @returns the printed table */
export async function run(): Promise<string> {
  const attacks = await playAttacks()
  attackers()
  others()
  return [...attacks, ...lines.splice(0)].join('\n')
}

if (import.meta.main) console.log(await run())
