// The same service with one and with two processes, in turn: captures and attack reports.
import { load as sendReports } from '../abuse/load.ts'
import { listProcesses } from '../process-usage.ts'
import { load as sendCaptures, SENDER } from './load.ts'
import { startPortreeve, startStore, type Program, type Store } from './start.ts'

const SECONDS = 5
const ROUNDS = 4
const REPORTS = 15_000
const CONNECTIONS = 64
/** Reporting addresses: enough that none reaches its rate limit. */
const SOURCES = 15_000

type Figures = { perSecond: number; serviceMicroseconds: number; postgresMicroseconds: number }
type Subject = { program: Program; endpoint: string; reported: number }

/** Takes about two minutes. */
export async function run(): Promise<string> {
  const store = await startStore('enterprise')
  const subjects: Subject[] = []
  try {
    for (const PROCESSES of ['1', '2']) {
      const settings = { PROCESSES, TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: 'warn' }
      const subject = { program: await startPortreeve(store, settings), endpoint: '', reported: 0 }
      subjects.push(subject)
      subject.endpoint = await makeEndpoint(subject.program, store)
    }
    const lines = [`sent by ${SENDER}; ${CONNECTIONS} connections`]
    for (const [what, measure] of [
      ['captures', measureCaptures],
      ['attack reports', measureReports],
    ] as const) {
      for (const subject of subjects) await measure(subject)
      const rounds: Figures[][] = []
      for (let round = 0; round < ROUNDS; round++) {
        const figures: Figures[] = []
        for (const subject of subjects) figures.push(await measure(subject))
        rounds.push(figures)
      }
      lines.push(...describe(what, rounds))
    }
    return lines.join('\n')
  } finally {
    for (const { program } of subjects) await program.stop()
    await store.stop()
  }
}

async function makeEndpoint({ url }: Program, { apiToken }: Store): Promise<string> {
  const headers = { authorization: `Bearer ${apiToken}` }
  const answer = await fetch(`${url}/api/webhook/endpoints`, { method: 'POST', headers })
  const { endpoint } = (await answer.json()) as { endpoint: { token: string } }
  return `${url}/webhooks/${endpoint.token}`
}

const measureCaptures = ({ program, endpoint }: Subject) =>
  withProcessorTime(program, async () => {
    const { perSecond } = await sendCaptures(endpoint, SECONDS)
    return { perSecond, requests: perSecond * SECONDS }
  })

const measureReports = (subject: Subject) =>
  withProcessorTime(subject.program, async () => {
    const first = subject.reported
    subject.reported += REPORTS
    const { seconds } = await sendReports(subject.program.url, {
      connections: CONNECTIONS,
      requests: REPORTS,
      requestOf: (n) => reportOf(first + n),
    })
    return { perSecond: REPORTS / seconds, requests: REPORTS }
  })

function reportOf(n: number): string {
  const source = n % SOURCES
  const body = JSON.stringify({
    ip: `8.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
    service: 'ssh',
  })
  return (
    `POST /api/v1/abuse/report HTTP/1.1\r\nhost: bench.test\r\ncontent-type: application/json\r\n` +
    `x-forwarded-for: 9.9.${source >> 8}.${source & 255}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  )
}

type Done = { perSecond: number; requests: number }

async function withProcessorTime(program: Program, work: () => Promise<Done>): Promise<Figures> {
  const before = processorTimes(program)
  const { perSecond, requests } = await work()
  const after = processorTimes(program)
  const each = (kind: 'service' | 'postgres') => ((after[kind] - before[kind]) / requests) * 1e6
  return {
    perSecond,
    serviceMicroseconds: each('service'),
    postgresMicroseconds: each('postgres'),
  }
}

/** Seconds of the service with its further processes, and of PostgreSQL, since their start. */
function processorTimes({ process: { pid } }: Program): { service: number; postgres: number } {
  const times = { service: 0, postgres: 0 }
  for (const one of listProcesses()) {
    if (one.pid === pid || one.parent === pid) times.service += one.seconds
    if (one.name === 'postgres') times.postgres += one.seconds
  }
  return times
}

function describe(what: string, rounds: Figures[][]): string[] {
  const ofProcesses = (index: number) => rounds.map((round) => round[index] as Figures)
  const row = (processes: number) => {
    const figures = ofProcesses(processes - 1)
    const of = (key: keyof Figures) => median(figures.map((one) => one[key]))
    return `| ${what}, PROCESSES=${processes} | ${Math.round(of('perSecond'))}/s | ${of('serviceMicroseconds').toFixed(0)} µs | ${of('postgresMicroseconds').toFixed(0)} µs |`
  }
  const ratios = rounds.map(([one, two]) => (two?.perSecond ?? NaN) / (one?.perSecond ?? NaN))
  return [
    '',
    '| | requests | service CPU | PostgreSQL CPU |',
    '|---|---|---|---|',
    row(1),
    row(2),
    `ratio in each round: ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}; median ${median(ratios).toFixed(2)}`,
  ]
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}
