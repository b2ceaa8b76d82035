import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { aggregate, mailWith } from '../dmarc/reports.ts'
import { freePort } from '../free-port.ts'
import { swaks } from '../servers/swaks.ts'
import { figure } from './figures.ts'
import { HOSTILE_DNS, startHostileDns } from './hostile/dns.ts'
import { HOSTILE_IMAP, startHostileImap } from './hostile/imap.ts'
import { listen, type Listening } from '../servers/listen.ts'
import { trickle } from './hostile/flows.ts'
import { beHostile, hostileClients } from './hostile/mail.ts'
import { HOSTILE_TLS } from './hostile/tls.ts'
import { endOf, startMoving } from './moving.ts'
import { startPlace, type Place } from './place.ts'
import { seenText, watch, type Seen } from './watch.ts'

/**
 * Megabytes by which the service may grow: the memory limits of SECURITY.md, and room for the
 * garbage collector.
 */
const MAY_GROW = 450
/** Milliseconds that other clients may wait meanwhile. */
const MAY_WAIT = 5_000

let place: Place
let smtpPort: number
let reportEmail: string
const undo: (() => Promise<void> | void)[] = []

beforeAll(async () => {
  const dns = await startHostileDns()
  undo.push(() => dns.close())
  smtpPort = await freePort()
  place = await startPlace({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    SMTP_LISTEN: `127.0.0.1:${smtpPort}`,
    REPORT_DOMAIN: 'reports.portreeve.test',
  })
  undo.push(() => place.stop())
  const domain = await place.api('/api/v1/dmarc/domains', 'POST', { domain: 'example.test' })
  reportEmail = ((await domain.json()) as { data: { reportEmail: string } }).data.reportEmail
})
afterAll(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

const open: Listening[] = []
afterEach(async () => void (await Promise.all(open.splice(0).map((server) => server.close()))))

async function opened(server: Promise<Listening>): Promise<number> {
  open.push(await server)
  return open.at(-1)?.port ?? 0
}

function isCalm(seen: Seen): void {
  expect(seen.slowest).toBeLessThan(MAY_WAIT)
  expect(seen.most - seen.before).toBeLessThan(MAY_GROW)
}

const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(0)

describe('IMAP servers of an enemy', () => {
  it('end their own migrations with a reason, and no other', async () => {
    const moving = await startMoving(300, 20)
    open.push({ port: 0, close: () => moving.stop() })
    const begun = performance.now()
    const watching = watch(place)
    const migrations = Object.entries(HOSTILE_IMAP).map(async ([name, hostile]) => {
      const port = await opened(startHostileImap(hostile))
      const source = { host: '127.0.0.1', port, secure: false, user: 'alice', password: 'secret' }
      const answer = await place.api('/api/v1/imap/migrate', 'POST', { ...moving.request, source })
      const { migrationId = '' } = (await answer.json()) as { migrationId?: string }
      const { status, progress } = await endOf(place, migrationId, 280_000)
      return { name, status, error: progress.errors[0] }
    })
    const good = await moving.begin(place)
    await moving.isWhole(place, good)
    const ended = await Promise.all(migrations)
    const seen = await watching.stop()
    const outcomes = ended.map(({ name, status, error }) => `${name}: ${status}: ${error?.message}`)
    console.log(outcomes.join('\n'))
    expect(outcomes.filter((outcome) => !/: failed: \S.{10,}\.$/s.test(outcome))).toEqual([])
    figure(
      `${ended.length} IMAP servers of an enemy, beside one that is honest`,
      `each migration from them ended with a reason within ${seconds(begun)} s, the honest one is whole; ${seenText(seen)}`,
    )
    isCalm(seen)
  })
})

describe('DNS servers of an enemy', () => {
  it('fail within the time limit', async () => {
    const watching = watch(place)
    const names = Object.keys(HOSTILE_DNS)
    let slowest = 0
    const asked = Array.from({ length: names.length * 10 }, async (_, n) => {
      const begun = performance.now()
      const name = `${names[n % names.length]}.n${n}.test`
      const answer = await place.api(`/api/v1/dns-check?domain=${name}`)
      const text = await answer.text()
      slowest = Math.max(slowest, performance.now() - begun)
      expect([name, answer.status, text.includes('192.0.2.1')]).toEqual([
        name,
        expect.any(Number),
        false,
      ])
      expect([name, [200, 422, 502, 504].includes(answer.status)]).toEqual([name, true])
    })
    await Promise.all(asked)
    const seen = await watching.stop()
    figure(
      `${asked.length} checks of names whose DNS servers lie in ${names.length} ways`,
      `nothing of it believed, the last answered after ${(slowest / 1000).toFixed(1)} s; ${seenText(seen)}`,
    )
    expect(slowest).toBeLessThan(40_000)
    isCalm(seen)
  })
})

describe('TLS servers of an enemy', () => {
  it('are abandoned in time, with a reason', async () => {
    const watching = watch(place)
    const begun = performance.now()
    const kinds = Object.entries(HOSTILE_TLS)
    const checks = kinds.flatMap(([name, start]) =>
      ['', '', '&starttls=smtp'].map(async (starttls) => {
        const port = await opened(start())
        const answer = await place.api(`/api/v1/ssl-check?domain=127.0.0.1&port=${port}${starttls}`)
        const { error } = (await answer.json()) as { error?: string }
        return { name, status: answer.status, error }
      }),
    )
    const smtp = await opened(listen((socket) => trickle(socket, '220-x\r\n', 500)))
    checks.push(
      place
        .api(`/api/v1/ssl-check?domain=127.0.0.1&port=${smtp}&starttls=smtp`)
        .then(async (answer) => {
          const { error } = (await answer.json()) as { error?: string }
          return { name: 'a greeting without end', status: answer.status, error }
        }),
    )
    for (const { name, status, error } of await Promise.all(checks)) {
      expect([name, [422, 502, 504].includes(status), error]).toEqual([
        name,
        true,
        expect.stringMatching(/^[A-Z].*\.$/s),
      ])
    }
    const seen = await watching.stop()
    figure(
      `${checks.length} TLS checks of servers that ${kinds.length} kinds of enemy run`,
      `each given up with a reason, the last after ${seconds(begun)} s; ${seenText(seen)}`,
    )
    isCalm(seen)
  })
})

/**
 * Sends a message like a mail server, which retries after a temporary error.
 * @returns the number of retries
 */
async function delivered(mail: string, tries = 0): Promise<number> {
  const { code, transcript } = await swaks(smtpPort, reportEmail, mail)
  const said = transcript.split('\n').filter((line) => line.startsWith('<'))
  if (code === 0) return tries
  // After a rejection, swaks says goodbye, which is answered, too.
  expect([tries, said.findLast((line) => line.startsWith('<**'))]).toEqual([
    expect.toSatisfy((n) => n < 3),
    expect.stringMatching(/^<\*\* +4\d\d /),
  ])
  await sleep(1_000)
  return delivered(mail, tries + 1)
}

describe('hostile clients of the SMTP server', () => {
  it('do not block the reports of others', async () => {
    const kinds = Object.entries(hostileClients(reportEmail))
    const watching = watch(place)
    const sockets = kinds.flatMap(([, act], kind) =>
      Array.from({ length: 15 }, (_, n) => beHostile(smtpPort, `127.4.${kind}.${n + 1}`, act)),
    )
    let slowest = 0
    let taken = 0
    let again = 0
    for (let n = 0; n < 20; n++) {
      const begun = performance.now()
      again += await delivered(mailWith({ attachment: aggregate({ id: `calm-${n}` }) }))
      slowest = Math.max(slowest, performance.now() - begun)
      taken += 1
      await sleep(500)
    }
    for (const socket of sockets) socket.destroy()
    const seen = await watching.stop()
    const list = await (await place.api('/api/v1/dmarc/domains')).text()
    expect(list).toContain('example.test')
    figure(
      `${sockets.length} hostile clients of the SMTP server, of ${kinds.length} kinds`,
      `${taken} of ${taken} reports beside them taken, ${again} of them at a later try, the slowest in ${(slowest / 1000).toFixed(1)} s; ${seenText(seen)}`,
    )
    expect(slowest).toBeLessThan(15_000)
    isCalm(seen)
  })

  it('are disconnected after at most a minute of silence when all connections are used', async () => {
    const sockets = Array.from({ length: 250 }, (_, n) => {
      const socket = connect({
        port: smtpPort,
        host: '127.0.0.1',
        localAddress: `127.5.${n % 50}.1`,
      })
      return socket.on('error', () => {}).resume()
    })
    await sleep(500)
    const begun = performance.now()
    const mail = mailWith({ attachment: aggregate({ id: 'after-all' }) })
    await expect
      .poll(async () => (await swaks(smtpPort, reportEmail, mail)).code, {
        timeout: 90_000,
        interval: 1_000,
      })
      .toBe(0)
    figure(
      'all 200 places at the door for mail are taken by silent clients',
      `a report is taken again after ${seconds(begun)} s`,
    )
    for (const socket of sockets) socket.destroy()
  })
})
