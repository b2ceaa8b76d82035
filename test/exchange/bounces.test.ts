import { afterAll, beforeAll, expect, it } from 'vitest'
import { readBounces } from '../../src/exchange/abuse-mails/bounces/read-bounces.ts'
import {
  createReturnPath,
  readReturnPath,
} from '../../src/exchange/abuse-mails/bounces/return-path.ts'
import { findReading } from '../../src/exchange/abuse-mails/bounces/bounces.sql.ts'
import { mailReports, type AbuseMailDeps } from '../../src/exchange/abuse-mails/send-mails.ts'
import { readConfig } from '../../src/config.ts'
import { checkBounces } from '../../src/diagnostics/health/check-bounces.ts'
import { createLog } from '../../src/log.ts'
import { createGuardedFetch } from '../../src/net/http/guarded-fetch.ts'
import { parseDeliveryStatus } from '../../src/protocols/delivery-status.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { accountOn, fill, read as readFolders } from '../migration/mailbox.ts'
import { mapResolver } from '../resolver.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { inLiveWorkspaces } from '../jobs/context.ts'

const RETURN_PATH = 'bounces@example.com'
const KEY = 'the key of this test'

let sink: Sink
let mailbox: MailServer
let portreeve: TestService
let database: Database
let alice: Person
let deps: AbuseMailDeps

beforeAll(async () => {
  ;[sink, mailbox] = await Promise.all([startSink(), startDovecot()])
  await mailbox.addUser('bounces', 'secret')
  portreeve = await startTestService({
    SMTP_URL: sink.url,
    ROLES: 'web',
    ABUSE_RETURN_PATH: RETURN_PATH,
    ABUSE_RETURN_MAILBOX: 'imaps://bounces:secret@imap.example.com',
  })
  database = openDatabase(portreeve.databaseUrl)
  alice = await portreeve.addPerson('Alice')
  const guard = { resolver: mapResolver(), allowPrivate: true } as const
  deps = {
    db: database.db,
    log: createLog('silent'),
    clock: Date.now,
    request: createGuardedFetch(guard, 5_000),
    mailRelay: { smtpUrl: sink.url, from: 'portreeve@example.com' },
    returnPath: RETURN_PATH,
    baseUrl: portreeve.url,
    optOutKey: KEY,
  }
  await database.pool.query('insert into abuse_mail_settings values ($1, $2, $3)', [alice.id, 'on', 'alice@example.com']) // prettier-ignore
})
afterAll(async () => {
  await database?.close()
  await portreeve?.stop()
  await Promise.all([sink?.stop(), mailbox?.stop()])
})

/** Sends an email about one address to the contact of its network. @returns its envelope sender */
async function send(recipient: string, address: string): Promise<string> {
  const { rows } = await database.pool.query(
    `insert into abuse_mail (workspace_id, day, recipient, network, is_test)
      values ($1, '2026-11-01', $2, 'net', false) returning id`,
    [alice.id, recipient],
  )
  const { id } = rows[0] as { id: string }
  await database.pool.query(
    `insert into abuse_mail_report (workspace_id, day, address, services, count, first_at, last_at, mail_id)
      values ($1, '2026-11-01', $2, '{ssh}', 3, now(), now(), $3)`,
    [alice.id, address, id],
  )
  await mailReports(deps, inLiveWorkspaces(AbortSignal.timeout(10_000)))
  return sink.senders.at(-1) ?? ''
}

/** As Postfix writes it. */
const bounce = (to: string, action: string, status: string) =>
  [
    'Return-Path: <>',
    'Delivered-To: bounces@example.com',
    'From: MAILER-DAEMON@mx.example.com (Mail Delivery System)',
    'Subject: Undelivered Mail Returned to Sender',
    `To: ${to.toUpperCase()}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status;',
    '\tboundary="A/mx.example.com"',
    '',
    '--A/mx.example.com',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'I could not deliver your message.',
    '--A/mx.example.com',
    'Content-Description: Delivery report',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.com',
    'Arrival-Date: Thu, 26 Nov 2026 09:00:00 +0000 (UTC)',
    '',
    'Final-Recipient: rfc822; abuse@example.net',
    `Action: ${action}`,
    `Status: ${status}`,
    'Diagnostic-Code: smtp; 550 5.1.1 <abuse@example.net>: Recipient address',
    '    rejected',
    '',
    '--A/mx.example.com--',
    '',
  ].join('\r\n')

const bounceMailbox = (password = 'secret') => ({
  host: '127.0.0.1',
  port: mailbox.port,
  secure: false,
  user: 'bounces',
  password,
})

const read = (password?: string) =>
  readBounces(
    { ...deps, resolver: mapResolver(), bounceMailbox: bounceMailbox(password) },
    AbortSignal.timeout(10_000),
  )

const arrive = (body: string) => fill(accountOn(mailbox.port, 'bounces'), { INBOX: [{ body }] })

async function ask(path: string) {
  const response = await portreeve.request(`/api/v1/abuse/${path}`, { token: alice.token })
  return ((await response.json()) as { data: never }).data
}

const states = async () => {
  const { mails } = (await ask('mails')) as { mails: { recipient: string; state: string; reason: string }[] } // prettier-ignore
  return mails.map(({ recipient, state, reason }) => [recipient, state, reason])
}

it('an email that comes back counts as failed, and its recipient gets none for 90 days', async () => {
  expect(await ask('mails/settings')).toMatchObject({ bounces: 'read' })
  const sender = await send('abuse@example.net', '9.0.0.1')
  expect(sender).toMatch(/^bounces\+[0-9a-f]{48}@example\.com$/)
  const other = await send('abuse@example.org', '9.1.0.1')
  const late = await send('abuse@example.edu', '9.2.0.1')
  const forged = sender.replace(/[0-9a-f]@/, (last) => (last === '0@' ? '1@' : '0@'))
  await arrive(bounce(forged, 'failed', '5.1.1'))
  await arrive(bounce(other, 'delayed', '4.4.1'))
  await arrive(bounce(late, 'failed', '4.4.7'))
  await arrive(
    bounce(sender, 'failed', '5.1.1').replace('report-type=delivery-status', 'report-type=other'),
  )
  await read()
  const cameBack =
    'The email came back (4.4.7): 550 5.1.1 <abuse@example.net>: Recipient address rejected'
  expect(await states()).toEqual([
    ['abuse@example.edu', 'failed', cameBack],
    ['abuse@example.org', 'sent', ''],
    ['abuse@example.net', 'sent', ''],
  ])
  await arrive(bounce(sender, 'failed', '5.1.1'))
  await read()
  expect((await states()).at(-1)).toEqual([
    'abuse@example.net',
    'failed',
    cameBack.replace('4.4.7', '5.1.1'),
  ])

  const { length } = sink.mails
  await send('Abuse@example.net', '9.0.0.2')
  expect(sink.mails).toHaveLength(length)
  expect((await states())[0]).toEqual([
    'Abuse@example.net',
    'skipped',
    expect.stringMatching(/^An email to the recipient came back on .* It gets none for 90 days\.$/),
  ])
  // A server that could not be reached may be back.
  await send('abuse@example.edu', '9.2.0.2')
  await database.pool.query("update abuse_bounce set bounced_at = now() - interval '91 days'")
  await send('abuse@example.net', '9.0.0.3')
  expect(sink.mails).toHaveLength(length + 2)

  // Bounces are marked as read; other messages stay as they were.
  const { INBOX: messages = [] } = await readFolders(accountOn(mailbox.port, 'bounces'))
  expect(messages.map(({ flags }) => flags.includes('\\Seen'))).toEqual([
    false,
    true,
    true,
    false,
    true,
  ])
}, 30_000)

it('a mailbox that cannot be read is reported', async () => {
  const checked = async () => checkBounces(await findReading(deps.db, bounceMailbox()))
  await read('wrong')
  expect(await ask('mails/settings')).toMatchObject({ bounces: 'failing' })
  expect(await checked()).toMatchObject({
    state: 'bad',
    sentence: expect.stringMatching(/cannot be read: .* Check ABUSE_RETURN_MAILBOX\.$/),
  })
  await read()
  expect(await ask('mails/settings')).toMatchObject({ bounces: 'read' })
  expect(await checked()).toMatchObject({ state: 'good' })
}, 30_000)

it('the health of the service names the mailbox', async () => {
  const { token } = await portreeve.addPerson('Root', { admin: true })
  const response = await portreeve.request('/api/v1/service/health', { token })
  const { data } = (await response.json()) as { data: { findings: { about: string }[] } }
  // Of the mailbox in the settings, which is another one than that of this test.
  expect(data.findings.find(({ about }) => about === 'bounces')).toEqual({
    about: 'bounces',
    state: 'doubtful',
    sentence:
      'The mailbox of bounced abuse emails was not read yet. The service reads it every 5 minutes.',
  })
}, 30_000)

it('only return paths of this service count, and settings fit together', async () => {
  const id = '01a21804-5742-7840-9377-27eca74c0240'
  const path = createReturnPath(KEY, RETURN_PATH, id)
  expect(path.indexOf('@')).toBeLessThanOrEqual(64)
  expect(readReturnPath(KEY, path)).toBe(id)
  expect(readReturnPath('another', path)).toBeNull()
  expect(readReturnPath(KEY, RETURN_PATH)).toBeNull()
  expect(await parseDeliveryStatus(Buffer.from('Subject: hello\r\n\r\nhello'))).toBeNull()
  expect(() => readConfig({ ABUSE_RETURN_PATH: RETURN_PATH })).toThrow(/are required together/)
  expect(() => readConfig({ ABUSE_RETURN_PATH: 'a+b@example.com' })).toThrow(/must be an email/)
  const address = {
    ABUSE_RETURN_PATH: RETURN_PATH,
    ABUSE_RETURN_MAILBOX: 'imaps://a%40b.com:s%3A@host',
  }
  expect(readConfig(address).ABUSE_RETURN_MAILBOX).toEqual({ host: 'host', port: 993, secure: true, user: 'a@b.com', password: 's:' }) // prettier-ignore
  for (const wrong of ['imaps://host', 'https://a:b@host', 'imaps://a@host'])
    expect(() => readConfig({ ...address, ABUSE_RETURN_MAILBOX: wrong })).toThrow(/must be imaps/)
}, 10_000)
