// Report mail alone, and beside 50 mail tests a minute; and the memory of mails of 10 MB. All of it
// in this process, with a DNS server of its own.
import { setTimeout as sleep } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import { createAccount } from '../../src/accounts/accounts.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { startService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import type { MailTest } from '../../src/deliverability/shapes.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { freePort } from '../../test/free-port.ts'
import { aggregate, mailWith } from '../../test/dmarc/reports.ts'
import { startDns } from '../../test/servers/dns.ts'
import { startPostgres } from '../../test/servers/postgres.ts'

const PHASE_MS = 30_000
const ROUNDS = 2
/** Milliseconds between two looks at a test, whose cost counts, too. */
const POLL_MS = 200
const REPORTS_PER_SECOND = 5
const TESTS_PER_MINUTE = 50
/** Tests that an account may have open. */
const TESTS_PER_ACCOUNT = 5
const LARGE_MAILS = 6
const MIB = 1024 * 1024

/** Alternates both phases, so that a busy machine slows both; takes some two and a half minutes. */
export async function run(): Promise<string> {
  const dns = await startDns({
    records: {
      'sender.test TXT': ['v=spf1 ip4:127.0.0.1 -all'],
      'sender.test MX': ['10 mail.sender.test'],
      'mail.sender.test A': ['127.0.0.1'],
      '1.0.0.127.in-addr.arpa PTR': ['mail.sender.test'],
      '_dmarc.sender.test TXT': ['v=DMARC1; p=reject'],
    },
  })
  const postgres = await startPostgres('embedded')
  const [port, httpPort] = [await freePort(), await freePort()]
  const config = readConfig({
    DATABASE_URL: postgres.url,
    SECRET_KEY: 'the secret key of a service that is measured',
    PORT: String(httpPort),
    SMTP_LISTEN: `127.0.0.1:${port}`,
    REPORT_DOMAIN: 'tests.test',
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${dns.port}`,
    LOG_LEVEL: 'warn',
  })
  const running = await startService(config, createLog('warn'))
  const database = openDatabase(postgres.url)
  const service: Service = {
    async addPerson(name) {
      const email = `${name.toLowerCase().replaceAll(' ', '-')}@people.test`
      const { id } = await createAccount(database.db, {
        email,
        password: 'a long enough password',
        plan: 'pro',
      })
      return (await issueToken(database.db, { accountId: id, workspaceId: id })).token
    },
    request: (path, { token, headers, ...init }) =>
      fetch(new URL(path, `http://127.0.0.1:${httpPort}`), {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...headers },
      }),
  }
  try {
    const place = { service, port }
    const reportEmail = await addReportAddress(service)
    const count = (TESTS_PER_MINUTE * PHASE_MS) / 60_000
    const rounds = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(await createTests(service, count))
    await sendReports(place, reportEmail, 5_000)
    const alone: Phase[] = []
    const beside: Phase[] = []
    const timings: Timing[] = []
    for (const tests of rounds) {
      alone.push(await measure(() => sendReports(place, reportEmail, PHASE_MS)))
      beside.push(
        await measure(async () => {
          const sending = sendTests(place, tests)
          const times = await sendReports(place, reportEmail, PHASE_MS)
          timings.push(...(await sending))
          return times
        }),
      )
    }
    const memory = await measureLarge(place)
    return describe({ alone, beside, timings, memory })
  } finally {
    await running.stop()
    await database.close()
    await postgres.stop()
    await dns.close()
  }
}

type Service = {
  /** @returns an API token */
  addPerson(name: string): Promise<string>
  request(
    path: string,
    init: { token: string; method?: string; body?: string; headers?: Record<string, string> },
  ): Promise<Response>
}

type Place = { service: Service; port: number }
type OwnTest = { token: string; test: MailTest }

const transportTo = (port: number, name = 'mail.sender.test') =>
  createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true, name })

async function call<T>(service: Service, token: string, path: string, body?: object) {
  const response = await service.request(path, {
    token,
    ...(body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { data: T }).data
}

async function addReportAddress(service: Service): Promise<string> {
  const token = await service.addPerson('Reporter')
  const domain = await call<{ reportEmail: string }>(service, token, '/api/v1/dmarc/domains', {
    domain: 'example.test',
  })
  return domain.reportEmail
}

async function createTests(service: Service, count: number): Promise<OwnTest[]> {
  const tests: OwnTest[] = []
  const name = `Tester ${performance.now()}`
  let token = ''
  for (let index = 0; index < count; index++) {
    if (index % TESTS_PER_ACCOUNT === 0) token = await service.addPerson(`${name} ${index}`)
    const test = await call<MailTest>(service, token, '/api/v1/mail-tests', {})
    tests.push({ token, test })
  }
  return tests
}

/** Sends report mail at a fixed rate. @returns milliseconds of each mail */
async function sendReports({ port }: Place, to: string, ms: number): Promise<number[]> {
  // As a mail server does; the listener takes few connections of one network.
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    secure: false,
    ignoreTLS: true,
    name: 'mail.receiver.test',
    pool: true,
    maxConnections: 5,
  })
  const times: number[] = []
  const sent: Promise<void>[] = []
  const count = Math.round((ms / 1000) * REPORTS_PER_SECOND)
  for (let index = 0; index < count; index++) {
    const raw = mailWith({ attachment: aggregate({ id: `r${performance.now()}` }) })
    const started = performance.now()
    const envelope = { from: 'noreply@receiver.test', to }
    sent.push(
      transport
        .sendMail({ envelope, raw })
        .then(() => void times.push(performance.now() - started)),
    )
    await sleep(1000 / REPORTS_PER_SECOND)
  }
  await Promise.all(sent)
  transport.close()
  return times
}

/** Milliseconds of each report mail, and of the processor, of all that ran in this process. */
type Phase = { times: number[]; processorMs: number }

async function measure(send: () => Promise<number[]>): Promise<Phase> {
  const before = process.cpuUsage()
  const times = await send()
  const { user, system } = process.cpuUsage(before)
  return { times, processorMs: (user + system) / 1000 }
}

type Timing = { first: number; all: number }

async function sendTests(place: Place, tests: OwnTest[]): Promise<Timing[]> {
  const timings: Promise<Timing>[] = []
  for (const own of tests) {
    timings.push(sendTest(place, own, 'Thank you for your order.'))
    await sleep(PHASE_MS / tests.length)
  }
  return Promise.all(timings)
}

/** Sends one mail. @returns milliseconds from its acceptance to its first and to all findings */
async function sendTest(
  { service, port }: Place,
  { token, test }: OwnTest,
  text: string,
): Promise<Timing> {
  await transportTo(port).sendMail({
    from: 'anna@sender.test',
    to: test.address ?? '',
    subject: 'Order',
    text,
  })
  const accepted = performance.now()
  let first = 0
  for (;;) {
    const { mails } = await call<MailTest>(service, token, `/api/v1/mail-tests/${test.id}`)
    const [mail] = mails
    if (mail && mail.findings.length > 0) first ||= performance.now() - accepted
    if (mail?.state === 'done') return { first, all: performance.now() - accepted }
    await sleep(POLL_MS)
  }
}

/** Analyzes several mails of 10 MB at once. @returns megabytes before and at the most */
async function measureLarge(place: Place): Promise<{ before: number; peak: number }> {
  const tests = await createTests(place.service, LARGE_MAILS)
  const text = `${'word '.repeat(14)}\n`.repeat((9 * MIB) / 71)
  globalThis.gc?.()
  const before = process.memoryUsage().rss / MIB
  let peak = before
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss / MIB)), 20)
  await Promise.all(tests.map((own) => sendTest(place, own, text)))
  clearInterval(timer)
  return { before, peak }
}

const secondsOf = (phases: Phase[]) =>
  (phases.reduce((sum, { processorMs }) => sum + processorMs, 0) / 1000).toFixed(1)

function quantile(values: number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0)
}

function describe(given: {
  alone: Phase[]
  beside: Phase[]
  timings: Timing[]
  memory: { before: number; peak: number }
}): string {
  const { alone, beside, timings, memory } = given
  const row = (name: string, values: number[]) =>
    `| ${name} | ${values.length} | ${quantile(values, 0.5)} | ${quantile(values, 0.95)} | ${quantile(values, 1)} |`
  return [
    '| ms | mails | p50 | p95 | max |',
    '| --- | --- | --- | --- | --- |',
    row(
      'report mail alone, 5/s',
      alone.flatMap(({ times }) => times),
    ),
    row(
      'report mail beside 50 tests/min',
      beside.flatMap(({ times }) => times),
    ),
    row(
      'test: first finding after acceptance',
      timings.map(({ first }) => first),
    ),
    row(
      'test: all findings',
      timings.map(({ all }) => all),
    ),
    '',
    `Processor time of client and service: ${secondsOf(alone)} s alone, ${secondsOf(beside)} s beside the tests, in ${(ROUNDS * PHASE_MS) / 1000} s each.`,
    '',
    `${LARGE_MAILS} mails of 10 MB at once, client and service in one process: ${memory.before.toFixed(0)} MB before, ${memory.peak.toFixed(0)} MB at the most.`,
  ].join('\n')
}
