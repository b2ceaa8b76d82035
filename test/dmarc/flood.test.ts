import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { readReports } from '../../src/dmarc/intake/read-reports.ts'
import {
  GUARANTEED_LIMIT,
  INTAKE_LIMITS,
  MAX_SAMPLE_BYTES,
  type IntakeLimits,
} from '../../src/dmarc/limits.ts'
import { parseTlsReport } from '../protocols/reports/report-samples.ts'
import { swaks } from '../servers/swaks.ts'
import { aggregate, mailWith } from './reports.ts'
import { startDmarc, type Person, type DmarcTest } from './module.ts'

const HEADER = 'From: a@spam.test\r\nSubject: junk\r\nMIME-Version: 1.0\r\n'
const JUNK = `${HEADER}\r\nbuy\r\n`
const MULTIPART = `${HEADER}Content-Type: multipart/mixed; boundary="b"\r\n\r\n`

describe('junk and hostile mail over SMTP', () => {
  let portreeve: DmarcTest
  let alice: Person

  beforeAll(async () => void (portreeve = await startDmarc()))
  afterAll(() => portreeve.stop())
  beforeEach(async () => void (alice = await portreeve.addPerson('Alice')))

  const listed = async () => (await portreeve.ask('rejected?limit=100', alice)).body.data
  const domainOf = async (id: string) => (await portreeve.ask(`domains/${id}`, alice)).body.data
  const send = async (to: string, mail: string) =>
    expect((await swaks(portreeve.smtpPort, to, mail)).code).toBe(0)

  it(
    'is one message and one row, even if it begins like an mbox of forty thousand',
    { timeout: 180_000 },
    async () => {
      const { id, reportEmail } = await portreeve.addDomain(alice.token)
      await send(
        reportEmail,
        `From a@b.test Sat Nov 21 06:00:00 2026\n${'Subject: x\n\nx\n\nFrom a@b.test x\n'.repeat(40_000)}`,
      )
      expect((await listed()).pagination.total).toBe(1)
      expect((await domainOf(id)).rejectedToday).toEqual({
        total: 1,
        unreadable: 1,
        otherDomain: 0,
        overLimit: 0,
      })
    },
  )

  it('is read as a report if one follows an mbox line', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    await send(
      reportEmail,
      `From a@b.test Sat Nov 21 06:00:00 2026\r\n${mailWith({ attachment: aggregate() })}`,
    )
    expect(await domainOf(id)).toMatchObject({ totalReports: 1, rejectedToday: { total: 0 } })
  })

  it('is counted in full and listed with a limited sample', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    const parts = '--b\r\nContent-Type: application/zip; name="x"\r\n\r\nx\r\n'.repeat(300)
    await send(reportEmail, `${MULTIPART}${parts}--b--\r\n`)
    expect((await listed()).pagination.total).toBe(20)
    for (let n = 0; n < 4; n++) await send(reportEmail, `${MULTIPART}${parts}--b--\r\n`)
    expect((await listed()).pagination.total).toBe(50)
    const { rejectedToday } = await domainOf(id)
    expect(rejectedToday).toMatchObject({ total: 1_500, unreadable: 1_500 })
  })

  it('is stored up to 64 KiB, while a report is stored completely', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    await send(reportEmail, `${HEADER}\r\n${'buy\r\n'.repeat(50_000)}`)
    const pad = `${'filler\r\n'.repeat(20_000)}\r\n--b1\r\nContent-Type`
    const mail = mailWith({ attachment: aggregate() }).replace(
      '--b1\r\nContent-Type',
      `--b1\r\nContent-Type: text/plain\r\n\r\n${pad}`,
    )
    await send(reportEmail, mail)
    expect(await domainOf(id)).toMatchObject({ totalReports: 1 })
    const { rows } = await portreeve.pool.query<{ length: number }>(
      'select octet_length(content) as length from dmarc_delivery where workspace_id = $1 order by 1',
      [alice.id],
    )
    expect(rows[0]?.length).toBe(MAX_SAMPLE_BYTES)
    expect(rows[1]?.length).toBeGreaterThan(160_000)
    expect(rows).toHaveLength(2)
  })

  it('leaves nothing behind if its report is stored already', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    const mail = mailWith({ attachment: aggregate({ id: 'the same' }) })
    for (let n = 0; n < 5; n++) await send(reportEmail, mail)
    expect(await domainOf(id)).toMatchObject({ totalReports: 1 })
    const { rows } = await portreeve.pool.query(
      'select 1 from dmarc_delivery where workspace_id = $1',
      [alice.id],
    )
    expect(rows).toHaveLength(1)
  })
})

describe('the daily limits', () => {
  let portreeve: DmarcTest
  let alice: Person
  let bob: Person
  const limits: IntakeLimits = {
    ...INTAKE_LIMITS,
    address: { ...INTAKE_LIMITS.address, mails: 3 },
    installation: { ...INTAKE_LIMITS.installation, mails: 4 },
  }

  beforeAll(async () => void (portreeve = await startDmarc({ intakeLimits: limits })))
  afterAll(() => portreeve.stop())
  beforeEach(async () => {
    await portreeve.pool.query('delete from dmarc_intake_day')
    ;[alice, bob] = [await portreeve.addPerson('Alice'), await portreeve.addPerson('Bob')]
  })

  it('apply to an address: further mail stays with the sender’s server and is counted', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    for (let n = 0; n < 3; n++)
      expect((await swaks(portreeve.smtpPort, reportEmail, JUNK)).code).toBe(0)
    const refused = await swaks(portreeve.smtpPort, reportEmail, JUNK)
    expect(refused.transcript).toContain(
      '452 4.2.2 This address has reached its daily limit for mail; try again after',
    )
    const { rejectedToday } = (await portreeve.ask(`domains/${id}`, alice)).body.data
    expect(rejectedToday).toEqual({ total: 4, unreadable: 3, otherDomain: 0, overLimit: 1 })
    const others = await portreeve.ask('domains', bob)
    expect(others.body.data).toEqual([])
  })

  it('apply across concurrent connections', async () => {
    const { reportEmail } = await portreeve.addDomain(alice.token)
    const codes = await Promise.all(
      Array.from(
        { length: 8 },
        async () => (await swaks(portreeve.smtpPort, reportEmail, JUNK)).code,
      ),
    )
    expect(codes.filter((code) => code === 0)).toHaveLength(3)
  })

  it('of the installation guarantee every address a minimum', async () => {
    const { reportEmail } = await portreeve.addDomain(alice.token)
    const { id, reportEmail: other } = await portreeve.addDomain(bob.token, 'other.test')
    await portreeve.pool.query(
      `insert into dmarc_intake_day (scope_id, day, mails)
        values ('00000000-0000-0000-0000-000000000000', (now() at time zone 'UTC')::date, 1000)`,
    )
    expect(
      (
        await swaks(
          portreeve.smtpPort,
          other,
          mailWith({ attachment: aggregate({ domain: 'other.test' }) }),
        )
      ).code,
    ).toBe(0)
    expect((await portreeve.ask(`domains/${id}`, bob)).body.data.totalReports).toBe(1)
    // An address beyond its guaranteed minimum has to wait.
    await portreeve.pool.query(
      `update dmarc_intake_day set bytes = $1 where scope_id = (select id from dmarc_domain where workspace_id = $2)`,
      [GUARANTEED_LIMIT.bytes, bob.id],
    )
    expect((await swaks(portreeve.smtpPort, other, JUNK)).transcript).toContain(
      '452 4.2.2 This server has reached its daily limit',
    )
    expect((await swaks(portreeve.smtpPort, reportEmail, JUNK)).code).toBe(0)
  })
})

describe('an uploaded mbox', () => {
  let portreeve: DmarcTest
  beforeAll(async () => void (portreeve = await startDmarc()))
  afterAll(() => portreeve.stop())

  it('is split into up to a thousand emails', { timeout: 180_000 }, async () => {
    const { token } = await portreeve.addPerson('Alice')
    await portreeve.addDomain(token)
    const mails = Array.from(
      { length: 1_200 },
      () => `From a@b.test x\n${JUNK.replaceAll('\r', '')}\n`,
    )
    const { status, body } = await portreeve.upload(token, mails.join(''))
    expect(status).toBe(200)
    expect(body.data.rejected).toHaveLength(1_000)
    const { rows } = await portreeve.pool.query('select 1 from dmarc_set_aside')
    expect(rows.length).toBeLessThanOrEqual(1_000)
  })
})

describe('reading a hostile mail', () => {
  const attached = (base64: string) =>
    `${MULTIPART}--b\r\nContent-Type: application/zip; name="a"\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64}\r\n--b--`
  const repeat = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length))
  const MB = 1024 * 1024
  const MAILS: [string, () => string | Buffer][] = [
    ['of empty lines', () => `${HEADER}\r\n${repeat('\n', 24 * MB)}`],
    ['of short lines', () => `${HEADER}\r\n${repeat('a b c\r\n', 24 * MB)}`],
    [
      'of as many lines as are allowed',
      () => `${HEADER}\r\n${`${'a b c '.repeat(10)}\r\n`.repeat(390_000)}`,
    ],
    ['of one line', () => `${HEADER}\r\n${repeat('x', 24 * MB)}`],
    ['of HTML', () => `${HEADER}Content-Type: text/html\r\n\r\n${repeat('<p>&amp;</p>', 4 * MB)}`],
    ['of a header', () => `X-A: ${repeat('b', 24 * MB)}\r\n\r\nx`],
    ['of header fields', () => `${repeat('X-A: b\r\n', 24 * MB)}\r\nx`],
    ['of folded fields', () => `X-A: b\r\n${repeat(' b\r\n', 200_000)}\r\nx`],
    ['of addresses', () => `From: ${repeat('a@b.test, ', 200_000)}\r\nSubject: x\r\n\r\nx`],
    ['of encoded words', () => `Subject: ${repeat('=?utf-8?Q?=41?= ', 200_000)}\r\n\r\nx`],
    ['of 100,000 parts', () => `${MULTIPART}${'--b\r\n\r\nx\r\n'.repeat(100_000)}--b--`],
    [
      'of 9,000 parts',
      () => `${MULTIPART}${'--b\r\nContent-Type: application/zip\r\n\r\nx\r\n'.repeat(9_000)}--b--`,
    ],
    ['with a large attachment', () => attached(repeat(`${'QUJD'.repeat(19)}\r\n`, 24 * MB))],
    ['with JSON of brackets', () => repeat('{"policies":[', 3 * MB)],
    [
      'with an XML bomb',
      () => gzipSync(`<feedback>${repeat('<record><row/></record>', 100 * MB)}`),
    ],
    ['with text that never becomes a tag', () => gzipSync(`<feedback>${' '.repeat(100 * MB)}`)],
    [
      'nested',
      () =>
        `${Array.from({ length: 200 }, (_, n) => `Content-Type: multipart/mixed; boundary="b${n}"\r\n\r\n--b${n}\r\n`).join('')}\r\nx`,
    ],
  ]

  it.each(MAILS)('%s does not delay other mail', { timeout: 180_000 }, async (_name, make) => {
    const bytes = Buffer.from(make())
    const pause = watchPause()
    const items = (await Array.fromAsync(readReports(bytes, 'x'))).length
    expect(items).toBeLessThan(2_100)
    // A tenth of a second on a machine of 2026.
    expect(pause.end()).toBeLessThan(600)
  })

  it('stops at the limit of files, however they are nested', { timeout: 180_000 }, async () => {
    const inner = `${MULTIPART}${'--b\r\nContent-Type: application/zip\r\n\r\nx\r\n'.repeat(900)}--b--`
    const parts = `--c\r\nContent-Type: message/rfc822\r\n\r\n${inner}\r\n`.repeat(9)
    const mail = `${HEADER}Content-Type: multipart/mixed; boundary="c"\r\n\r\n${parts}--c--`
    const reasons: string[] = []
    for await (const read of readReports(Buffer.from(mail), 'x'))
      if (read.kind === 'unread') reasons.push(read.reason)
    expect(reasons.length).toBeGreaterThan(1_500)
    expect(reasons.length).toBeLessThan(2_100)
    expect(reasons.filter((reason) => reason.includes('more than 2,000 files'))).toHaveLength(1)
  })

  it('of a usual size is read completely', { timeout: 180_000 }, async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => ({
      ip: `192.0.${n >> 8}.${n & 255}`,
      selector: `s${n}`,
    }))
    const xml = aggregate({ rows })
    const mail = Buffer.from(
      mailWith({ attachment: Buffer.from(xml), type: 'text/xml', fileName: 'r.xml' }),
    )
    expect(mail.length).toBeGreaterThan(10 * MB)
    const pause = watchPause()
    const [read] = await Array.fromAsync(readReports(mail, 'x'))
    expect(read).toMatchObject({ kind: 'aggregate', report: { recordCount: 20_000 } })
    expect(pause.end()).toBeLessThan(600)
  })
})

describe('an SMTP TLS report', () => {
  const reportOf = (policies: string) =>
    Buffer.from(
      `{"report-id":"x","date-range":{"start-datetime":"2026-11-20T00:00:00Z","end-datetime":"2026-11-20T23:59:59Z"},"policies":[${policies}]}`,
    )
  const policy = (failures = '') =>
    `{"policy":{"policy-domain":"a.test"},"failure-details":[${failures}]}`

  it('is rejected with too many policies, failures or characters', async () => {
    await expect(parseTlsReport(reportOf(Array(501).fill(policy()).join(',')))).rejects.toThrow(
      'more than 500 policies',
    )
    const failures = Array(10_001).fill('{}').join(',')
    await expect(parseTlsReport(reportOf(policy(failures)))).rejects.toThrow(
      'more than 10,000 failures',
    )
    await expect(parseTlsReport(reportOf(`"${'x'.repeat(5_000_000)}"`))).rejects.toThrow(
      'too large',
    )
    expect(
      (await parseTlsReport(reportOf(policy(Array(2_000).fill('{}').join(','))))).policies[0]
        ?.failureDetails,
    ).toHaveLength(2_000)
  })
})

/**
 * The longest pause of this thread's event loop, in milliseconds of processor time: what other
 * processes take of the machine meanwhile does not count.
 */
function watchPause(): { end(): number } {
  const now = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let [longest, last] = [0, now()]
  const measure = () => {
    longest = Math.max(longest, now() - last)
    last = now()
  }
  const timer = setInterval(measure, 5)
  onTestFinished(() => clearInterval(timer))
  return {
    end() {
      measure()
      clearInterval(timer)
      return longest
    },
  }
}
