import { createConnection } from 'node:net'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { deleteWorkspace, restoreWorkspace } from '../../src/accounts/workspaces/workspaces.ts'
import { mapResolver } from '../resolver.ts'
import { swaks } from '../servers/swaks.ts'
import { aggregate, mailWith, tlsReport } from './reports.ts'
import { startDmarc, type Person, type DmarcTest } from './module.ts'

const FAILURE_REPORT = [
  'From: noreply@receiver.test',
  'Subject: failure',
  'MIME-Version: 1.0',
  'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'A failure report.',
  '--b',
  'Content-Type: message/feedback-report',
  '',
  'Feedback-Type: auth-failure',
  'User-Agent: test/1',
  'Version: 1',
  '',
  '--b',
  'Content-Type: message/rfc822',
  '',
  'From: somebody@example.test',
  'Subject: a private matter',
  '',
  'secret words',
  '--b--',
  '',
].join('\r\n')

describe('the SMTP server for reports', () => {
  let portreeve: DmarcTest
  let alice: Person

  beforeAll(async () => {
    const resolver = mapResolver({
      'receiver.test TXT': ['v=spf1 ip4:127.0.0.1 -all'],
      '_dmarc.receiver.test TXT': ['v=DMARC1; p=reject'],
      'receiver.test A': ['192.0.2.1'],
    })
    portreeve = await startDmarc({ resolver })
  })
  afterAll(() => portreeve.stop())
  beforeEach(async () => {
    alice = await portreeve.addPerson('Alice')
  })

  const listOf = async (id: string) =>
    (await portreeve.ask(`domains/${id}/reports`, alice)).body.data

  it('knows no address of a deleted workspace, until that is restored', async () => {
    const { reportEmail } = await portreeve.addDomain(alice.token)
    const mail = mailWith({ attachment: aggregate({ id: 'deleted' }) })
    const send = () => swaks(portreeve.smtpPort, reportEmail, mail)
    await deleteWorkspace(portreeve.db, alice.id, 'Alice', null)
    expect((await send()).transcript).toContain('550 5.1.1')
    await restoreWorkspace(portreeve.db, alice.id, null)
    expect((await send()).code).toBe(0)
  })

  it('accepts a report by email and shows it at once in the list and the summary', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    const mail = mailWith({ attachment: aggregate({ id: 'mailed', rows: [{ count: 12 }] }) })
    const sent = await swaks(portreeve.smtpPort, reportEmail, mail)
    expect(sent.code, sent.transcript).toBe(0)
    expect((await listOf(id)).reports).toMatchObject([
      { reportId: 'mailed', via: 'smtp', totals: { messages: 12 } },
    ])
    const { body } = await portreeve.ask(`domains/${id}/summary`, alice)
    expect(body.data.totals).toMatchObject({ messages: 12, pass: 12 })
  })

  it('shows the authentication results of the email', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    await swaks(portreeve.smtpPort, reportEmail, mailWith({ attachment: aggregate() }))
    await swaks(
      portreeve.smtpPort,
      reportEmail,
      mailWith({ attachment: aggregate(), from: 'x@forged.test' }),
    )
    await vi.waitFor(async () => {
      const { reports } = await listOf(id)
      expect(reports).toMatchObject([
        { reporterVerified: false, authentication: { from: 'forged.test' } },
        {
          reporterVerified: true,
          authentication: {
            from: 'receiver.test',
            spf: { result: 'pass', domain: 'receiver.test' },
            dmarc: { result: 'pass' },
          },
        },
      ])
    })
  })

  it('accepts mail only for report addresses and does not relay', async () => {
    const { reportEmail } = await portreeve.addDomain(alice.token)
    const [local = ''] = reportEmail.split('@')
    const others = [
      'victim@elsewhere.test',
      'postmaster@reports.portreeve.test',
      `${local}@elsewhere.test`,
      `rabcdefghijklmnopq@reports.portreeve.test`,
      `victim%elsewhere.test@reports.portreeve.test`,
      `@reports.portreeve.test:victim@elsewhere.test`,
      `${local}@[127.0.0.1]`,
      `"victim@elsewhere.test"@reports.portreeve.test`,
    ]
    for (const to of others) {
      const { code, transcript } = await swaks(
        portreeve.smtpPort,
        to,
        mailWith({ attachment: aggregate() }),
      )
      expect(code, transcript).toBe(24)
      expect(transcript).toMatch(/<\*\* 5\d\d/)
    }
    const local25 = await swaks(
      portreeve.smtpPort,
      'victim@elsewhere.test',
      'Subject: x\r\n\r\nx',
      '--from',
      reportEmail,
    )
    expect(local25.code).toBe(24)
  })

  it('offers no sign-in, and no TLS without a certificate', async () => {
    const { transcript } = await swaks(
      portreeve.smtpPort,
      'x@elsewhere.test',
      null,
      '--quit-after',
      'EHLO',
    )
    expect(transcript).toMatch(/SIZE 26214400/)
    expect(transcript).not.toMatch(/AUTH|STARTTLS/)
  })

  it('accepts addresses in any case, and messages without a sender', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    const mail = mailWith({ attachment: aggregate() })
    const sent = await swaks(portreeve.smtpPort, reportEmail.toUpperCase(), mail, '--from', '<>')
    expect(sent.code, sent.transcript).toBe(0)
    expect((await listOf(id)).pagination.total).toBe(1)
  })

  it('rejects mail for a deleted domain', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    await portreeve.ask(`domains/${id}`, { ...alice, method: 'DELETE' })
    expect(
      (await swaks(portreeve.smtpPort, reportEmail, mailWith({ attachment: aggregate() }))).code,
    ).toBe(24)
  })

  it('accepts unreadable mail, lists it with the reason, and stores it', async () => {
    const { reportEmail } = await portreeve.addDomain(alice.token)
    const spam = 'From: a@spam.test\r\nSubject: cheap watches\r\n\r\nbuy\r\n'
    expect((await swaks(portreeve.smtpPort, reportEmail, spam)).code).toBe(0)
    const { body } = await portreeve.ask('rejected', alice)
    expect(body.data.rejected).toMatchObject([{ name: 'cheap watches', via: 'smtp', kept: true }])
    expect(body.data.rejected[0].reason).toMatch(/\w/)
  })

  it('rejects a forged report on a domain of another account', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    await swaks(
      portreeve.smtpPort,
      reportEmail,
      mailWith({ attachment: aggregate({ domain: 'bank.test' }) }),
    )
    expect((await listOf(id)).reports).toEqual([])
    const { body } = await portreeve.ask('rejected', alice)
    expect(body.data.rejected[0].reason).toBe(
      'The report is for bank.test, which is not in your workspace. Add the domain to receive its reports.',
    )
  })

  it('counts failure reports without storing them', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    expect((await swaks(portreeve.smtpPort, reportEmail, FAILURE_REPORT)).code).toBe(0)
    expect((await portreeve.ask(`domains/${id}`, alice)).body.data).toMatchObject({
      totalFailureReports: 1,
      totalReports: 0,
    })
    const { rows } = await portreeve.pool.query(
      "select 1 from dmarc_delivery where position('secret words'::bytea in content) > 0",
    )
    expect(rows).toEqual([])
  })

  it('accepts TLS reports at the same address', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    const mail = mailWith({
      attachment: tlsReport(),
      type: 'application/tlsrpt+gzip',
      fileName: 'r.json.gz',
    })
    expect((await swaks(portreeve.smtpPort, reportEmail, mail)).code).toBe(0)
    expect(
      (await portreeve.ask(`domains/${id}/tls-reports`, alice)).body.data.pagination.total,
    ).toBe(1)
  })

  it('stores a TLS report that names no domain for the domain of the address', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    const attachment = tlsReport().replace('"policy-domain":"example.test",', '')
    const mail = mailWith({ attachment, type: 'application/tlsrpt+gzip', fileName: 'r.json.gz' })
    expect((await swaks(portreeve.smtpPort, reportEmail, mail)).code).toBe(0)
    const { body } = await portreeve.ask(`domains/${id}/tls-reports`, alice)
    expect(body.data.reports).toMatchObject([{ policies: [{ policyDomain: 'example.test' }] }])
  })

  it('stores both reports of a file', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    const attachment = aggregate({ id: 'one' }) + aggregate({ id: 'two' })
    expect((await swaks(portreeve.smtpPort, reportEmail, mailWith({ attachment }))).code).toBe(0)
    expect((await listOf(id)).pagination.total).toBe(2)
  })

  it('rejects a message that is too large', async () => {
    const { reportEmail } = await portreeve.addDomain(alice.token)
    const { code, transcript } = await swaks(
      portreeve.smtpPort,
      reportEmail,
      mailWith({ attachment: Buffer.alloc(20 * 1024 * 1024, 'x'), type: 'application/zip' }),
      '--suppress-data',
    )
    expect([26, 23, 25], transcript.slice(-2_000)).toContain(code)
    expect(transcript).toContain('552')
  })

  it('asks the sender to retry while the database is unavailable, and then counts the report once', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    const mail = mailWith({ attachment: aggregate() })
    await portreeve.pool.query('alter table dmarc_delivery rename to dmarc_delivery_away')
    const refused = await swaks(portreeve.smtpPort, reportEmail, mail)
    await portreeve.pool.query('alter table dmarc_delivery_away rename to dmarc_delivery')
    expect(refused.code).not.toBe(0)
    expect(refused.transcript).toContain('451 4.3.0')
    const again = [
      await swaks(portreeve.smtpPort, reportEmail, mail),
      await swaks(portreeve.smtpPort, reportEmail, mail),
    ]
    expect(again.map(({ code }) => code)).toEqual([0, 0])
    expect((await listOf(id)).pagination.total).toBe(1)
  })

  it('accepts three hundred messages at once from one peer', async () => {
    const { id, reportEmail } = await portreeve.addDomain(alice.token)
    const transport = createTransport({
      host: '127.0.0.1',
      port: portreeve.smtpPort,
      pool: true,
      maxConnections: 4,
      ignoreTLS: true,
    })
    const mails = Array.from({ length: 310 }, () => mailWith({ attachment: aggregate() }))
    await Promise.all(
      mails.map((raw) =>
        transport.sendMail({ envelope: { from: 'a@receiver.test', to: reportEmail }, raw }),
      ),
    )
    transport.close()
    expect((await listOf(id)).pagination.total).toBe(310)
  })

  it('limits the connections from one network', async () => {
    const sockets = Array.from({ length: 25 }, () =>
      createConnection(portreeve.smtpPort, '127.0.0.1'),
    )
    const greetings = await Promise.all(sockets.map((socket) => firstLine(socket)))
    for (const socket of sockets) socket.destroy()
    expect(greetings.filter((line) => line.startsWith('421')).length).toBe(5)
    expect(greetings.filter((line) => line.startsWith('220')).length).toBe(20)
  })
})

function firstLine(socket: ReturnType<typeof createConnection>): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('data', (data) => resolve(data.toString()))
    socket.once('error', reject)
  })
}
