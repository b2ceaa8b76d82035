import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { rspamdEngine } from '../../src/deliverability/mail-tests/engines/rspamd.ts'
import { spamassassinEngine } from '../../src/deliverability/mail-tests/engines/spamassassin.ts'
import type { MailTest } from '../../src/deliverability/shapes.ts'
import { freePort } from '../free-port.ts'
import { makeCertificate } from '../servers/certificates.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startPostfix, type Postfix } from '../servers/postfix.ts'
import { startRspamd, startSpamd, type SpamFilter } from '../servers/spam-filters.ts'
import { swaks } from '../servers/swaks.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { engineMail, GTUBE } from './engine-mail.ts'
import { directMailer, MAILERS, type AppMail, type Mailer } from './npm-mailers.ts'

type TestedMail = MailTest['mails'][number]

/** What applications send, without their receiver. */
const NEWSLETTER: Omit<AppMail, 'to'> = {
  from: { name: 'Sender Shop', address: 'news@sender.test' },
  subject: 'News of the winter',
  text: `Hello,

the winter collection is here, and so is the first snow. We have new mugs, blankets
and lamps, and until Friday we send every order without a charge.

https://www.sender.test/winter

Unsubscribe: https://www.sender.test/u/abc
`,
  html: `<html><body><p>Hello,</p>
<p>the winter collection is here, and so is the first snow. We have new mugs, blankets
and lamps, and until Friday we send every order without a charge.</p>
<p><a href="https://www.sender.test/winter">See what is new</a></p>
<img src="https://www.sender.test/logo.png" alt="Sender Shop">
<p><a href="https://www.sender.test/u/abc">Unsubscribe</a></p></body></html>`,
  headers: {
    'List-Unsubscribe': '<https://www.sender.test/u/abc>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  },
}
const RECEIPT: Omit<AppMail, 'to'> = {
  from: { name: 'Anna Sender', address: 'anna@sender.test' },
  subject: 'Your receipt 2026-1234',
  text: 'Hello,\n\nthank you for your purchase. Two mugs cost 24.80 euros, paid by card.\nThe receipt is attached.\n\nAnna\n',
  html: '<html><body><p>Hello,</p><p>thank you for your purchase. Two mugs cost 24.80 euros, paid by card. The receipt is attached.</p><p>Anna</p></body></html>',
  attachment: {
    filename: 'receipt.pdf',
    type: 'application/pdf',
    content: Buffer.from(`%PDF-1.4\n${'x'.repeat(500)}`),
  },
}
const PASSWORD_RESET: Omit<AppMail, 'to'> = {
  from: { name: 'Sender Shop', address: 'noreply@sender.test' },
  subject: 'Reset your password',
  text: 'Hello,\n\nsomeone asked to reset the password of your account. Set a new one here within an hour:\n\nhttps://www.sender.test/reset?token=9f86d081884c7d659a2feaa0c55ad015\n\nIf that was not you, ignore this message.\n',
  html: '<html><body><p>Hello,</p><p>someone asked to reset the password of your account. <a href="https://www.sender.test/reset?token=9f86d081884c7d659a2feaa0c55ad015">Set a new one</a> here within an hour.</p><p>If that was not you, ignore this message.</p></body></html>',
}
const MINUTES: Omit<AppMail, 'to'> = {
  from: { name: 'Anna Sender', address: 'anna@sender.test' },
  subject: 'Minutes of the meeting',
  text: 'Hello,\n\nthe minutes of the meeting are attached. Tell me if something is missing.\n\nAnna\n',
  attachment: {
    filename: 'minutes.csv',
    type: 'text/csv',
    content: Buffer.from('topic,who\r\nBudget,Anna\r\n'),
  },
}
const GERMAN: Omit<AppMail, 'to'> = {
  from: { name: 'Jürgen Müller, Köln', address: 'juergen@sender.test' },
  subject: 'Ihre Bestellung über 3 Gläser Löwensenf – Größe „groß“ ist unterwegs 📦',
  text: 'Grüße aus Köln,\n\nIhre Bestellung über drei Gläser ist unterwegs.\n\nJürgen Müller\n',
}

/** Checks that pass for each mail that Postfix sends and OpenDKIM signs. */
const GREEN =
  'tls tls-version ehlo spf dkim dkim-fields dkim-oversigning dkim-aligned dmarc reverse-name helo-name helo-address envelope-domain from-domain from-single date message-id duplicate-fields header-syntax subject recipient mime-parts body-line-length line-ends charset received-count'.split(
    ' ',
  )

const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' }).toString('base64')

describe('mail of real programs and servers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-mailers-'))
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const sendmail = directMailer({
    privateKey: key.privateKey.export({ type: 'pkcs1', format: 'pem' }) as string,
    keySelector: 'app',
  })
  let port: number
  let service: TestService
  let dns: DnsServer
  let postfix: Postfix
  let rspamd: SpamFilter
  let spamd: SpamFilter
  let alice: Person

  beforeAll(async () => {
    const certificate = makeCertificate({
      subject: '/CN=tests.test',
      altNames: ['DNS:tests.test'],
    })
    writeFileSync(join(folder, 'key.pem'), certificate.key)
    writeFileSync(join(folder, 'cert.pem'), certificate.cert)
    port = await freePort()
    ;[postfix, rspamd, spamd] = await Promise.all([
      startPostfix('sender.test', port),
      startRspamd(),
      startSpamd(),
    ])
    dns = await startDns({
      records: {
        'sender.test A': ['127.0.0.1'],
        'sender.test MX': ['10 mail.sender.test'],
        'sender.test TXT': ['v=spf1 ip4:127.0.0.1 -all'],
        'mail.sender.test A': ['127.0.0.1'],
        'www.sender.test A': ['127.0.0.1'],
        '1.0.0.127.in-addr.arpa PTR': ['mail.sender.test'],
        '_dmarc.sender.test TXT': ['v=DMARC1; p=reject'],
        's1._domainkey.sender.test TXT': [`v=DKIM1; p=${postfix.publicKey}`],
        'app._domainkey.sender.test TXT': [`v=DKIM1; p=${spki(key.publicKey)}`],
      },
    })
    service = await startTestService({
      SMTP_LISTEN: `127.0.0.1:${port}`,
      SMTP_TLS_CERT: join(folder, 'cert.pem'),
      SMTP_TLS_KEY: join(folder, 'key.pem'),
      REPORT_DOMAIN: 'tests.test',
      DNS_SERVERS: `127.0.0.1:${dns.port}`,
      DNSBL_SERVERS: `127.0.0.1:${dns.port}`,
      RSPAMD_URL: `http://127.0.0.1:${rspamd.port}`,
      SPAMD_ADDRESS: `127.0.0.1:${spamd.port}`,
    })
  }, 180_000)
  afterAll(async () => {
    const servers = [postfix, rspamd, spamd]
    await Promise.all([service?.stop(), dns?.close(), ...servers.map((server) => server?.stop())])
    rmSync(folder, { recursive: true })
  })
  beforeEach(async () => {
    alice = await service.addPerson('Alice')
  })

  async function ask(path: string, body?: object): Promise<MailTest> {
    const response = await service.request(`/api/v1/mail-tests${path}`, {
      token: alice.token,
      ...(body && {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    })
    return ((await response.json()) as { data: MailTest }).data
  }

  /** Lets something send to a test address, and waits for all findings. */
  async function sendBy(send: (address: string) => Promise<unknown>): Promise<TestedMail> {
    const { id, address } = await ask('', {})
    await send(address ?? '')
    return vi.waitFor(
      async () => {
        const [mail] = (await ask(`/${id}`)).mails
        expect(mail, postfix.log()).toMatchObject({ state: 'done' })
        return mail!
      },
      { timeout: 120_000, interval: 100 },
    )
  }
  const sendThrough = (mailer: Mailer, mail: Omit<AppMail, 'to'>) =>
    sendBy((to) => mailer({ ...mail, to }, postfix.port))

  /** Whether a mail has exactly these failures, and the checks that it passes. */
  function expectFailures({ findings }: TestedMail, failures: string[], passing = GREEN): void {
    const failed = findings.filter(({ state }) => state === 'failed')
    expect(failed.map(({ id, severity }) => `${severity} ${id}`).toSorted()).toEqual(
      failures.toSorted(),
    )
    const passed = findings.filter(({ state }) => state === 'passed').map(({ id }) => id)
    const wanted = passing.filter((id) => !failures.some((one) => one.endsWith(` ${id}`)))
    expect(passed).toEqual(expect.arrayContaining(wanted))
  }
  const evidenceOf = ({ findings }: TestedMail, id: string) =>
    findings.find((finding) => finding.id === id)?.evidence
  /** The symbols of a filter that took the mail for no spam. */
  function symbolsOf({ engines }: TestedMail, engine: 'rspamd' | 'spamassassin'): string[] {
    const found = engines.find((one) => one.engine === engine)
    expect(found).toMatchObject({ state: 'checked', reason: null })
    expect(['no action', 'no spam']).toContain(found?.action)
    return found?.symbols.map(({ name }) => name) ?? []
  }

  it('nodemailer: a newsletter through OpenDKIM, which does not sign the one-click field', async () => {
    const mail = await sendThrough(MAILERS.nodemailer, NEWSLETTER)
    expectFailures(mail, ['hurts one-click-signed'])
    expect(evidenceOf(mail, 'one-click-signed')).toContain('cover list-unsubscribe-post,')
    expect(symbolsOf(mail, 'rspamd')).toContain('HAS_LIST_UNSUB')
    symbolsOf(mail, 'spamassassin')
    expect(mail.helo).toBe('mail.sender.test')
    expect(mail.tls).toMatch(/^TLSv1\.[23]/)
  })

  it('nodemailer: umlauts in names and subject, without a fault', async () => {
    const mail = await sendThrough(MAILERS.nodemailer, GERMAN)
    expectFailures(mail, ['note unsubscribe'])
    expect(mail.subject).toBe(GERMAN.subject)
    expect(symbolsOf(mail, 'rspamd')).not.toContain('R_BAD_CTE_7BIT')
  })

  it('emailjs: a receipt whose ASCII header is encoded', async () => {
    const mail = await sendThrough(MAILERS.emailjs, RECEIPT)
    expectFailures(mail, ['note unsubscribe', 'note encoded-words', 'note message-id-host'])
    expect(evidenceOf(mail, 'encoded-words')).toContain('subject, from are encoded')
    expect(symbolsOf(mail, 'rspamd')).toEqual(
      expect.arrayContaining(['SUBJ_EXCESS_QP', 'FROM_EXCESS_QP', 'MID_RHS_NOT_FQDN']),
    )
    symbolsOf(mail, 'spamassassin')
  })

  it('emailjs: a text with umlauts, in bytes that it does not announce', async () => {
    const mail = await sendThrough(MAILERS.emailjs, GERMAN)
    expectFailures(mail, [
      'hurts mime-version',
      'hurts transfer-encoding',
      'note message-id-host',
      'note unsubscribe',
    ])
    expect(symbolsOf(mail, 'rspamd')).toEqual(
      expect.arrayContaining(['MISSING_MIME_VERSION', 'R_BAD_CTE_7BIT']),
    )
    expect(symbolsOf(mail, 'spamassassin')).toContain('CTE_8BIT_MISMATCH')
  })

  it('@upyo/smtp: a password reset in encoded lines that are too long', async () => {
    const mail = await sendThrough(MAILERS['@upyo/smtp'], PASSWORD_RESET)
    expectFailures(mail, ['note encoded-line-length', 'note message-id-host', 'note unsubscribe'])
    symbolsOf(mail, 'rspamd')
    expect(symbolsOf(mail, 'spamassassin')).toContain('MIME_QP_LONG_LINE')
    const gmail = mail.receivers.find(({ title }) => title === 'Gmail, below 5,000 a day')
    expect(gmail).toMatchObject({ passedCount: 9 })
  })

  it('smtp-client and mimemessage: a file with a text, without MIME-Version', async () => {
    const mail = await sendThrough(MAILERS['smtp-client'], MINUTES)
    expectFailures(mail, ['hurts mime-version', 'note unsubscribe'])
    expect(symbolsOf(mail, 'rspamd')).toContain('MISSING_MIME_VERSION')
    symbolsOf(mail, 'spamassassin')
  })

  it('smtp-client and mimemessage: umlauts that nothing encodes', async () => {
    const mail = await sendThrough(MAILERS['smtp-client'], GERMAN)
    expectFailures(mail, ['hurts header-8bit', 'hurts mime-version', 'note unsubscribe'])
    expect(symbolsOf(mail, 'rspamd')).toEqual(
      expect.arrayContaining(['SUBJECT_NEEDS_ENCODING', 'FROM_NEEDS_ENCODING']),
    )
  })

  it('sendmail: a newsletter from the application itself, signed but without TLS', async () => {
    const mail = await sendBy((to) => sendmail({ ...NEWSLETTER, to }, port))
    expectFailures(
      mail,
      [
        'blocks tls',
        'hurts dkim-fields',
        'hurts line-ends',
        'hurts one-click-signed',
        'note dkim-oversigning',
      ],
      GREEN.filter((id) => id !== 'tls-version'),
    )
    expect(evidenceOf(mail, 'dkim-fields')).toContain('date')
    expect(evidenceOf(mail, 'one-click-signed')).toContain('cover list-unsubscribe-post,')
    expect(mail.verdict).toContain('1 problem can block this mail')
    symbolsOf(mail, 'rspamd')
    symbolsOf(mail, 'spamassassin')
  })

  it('swaks: a mail without a signature, over TLS', async () => {
    const mail = await sendBy((address) =>
      swaks(
        port,
        address,
        `From: Anna <anna@sender.test>\r\nTo: ${address}\r\nSubject: Hello\r\nDate: ${new Date().toUTCString().replace('GMT', '+0000')}\r\nMessage-ID: <1@sender.test>\r\n\r\nThe parcel comes tomorrow.\r\n`,
        '--tls',
        '--from',
        'anna@sender.test',
        '--helo',
        'mail.sender.test',
      ),
    )
    expectFailures(
      mail,
      ['hurts dkim', 'note unsubscribe'],
      GREEN.filter((id) => !id.startsWith('dkim-')),
    )
    symbolsOf(mail, 'rspamd')
    symbolsOf(mail, 'spamassassin')
  })

  it('cannot hide its faults', async () => {
    const mail = await sendThrough(MAILERS.nodemailer, {
      from: { name: 'Anna', address: 'anna@sender.test' },
      subject: 'Your order',
      text: '',
      html: '<img src="http://www.sender.test/all.png"><a href="https://bit.ly/x">https://www.bank.test</a>',
      attachment: {
        filename: 'invoice.exe',
        type: 'application/octet-stream',
        content: Buffer.from('MZ'),
      },
    })
    const failed = mail.findings.filter(({ state }) => state === 'failed').map(({ id }) => id)
    expect(failed).toEqual(
      expect.arrayContaining([
        'attachment-programs',
        'image-share',
        'link-shorteners',
        'link-text',
        'image-links',
      ]),
    )
    expect(mail.verdict).toContain('1 problem can block this mail')
  })

  it('rspamd says what it would do, and which rules matched', async () => {
    const query = rspamdEngine(`http://127.0.0.1:${rspamd.port}`)
    const signal = AbortSignal.timeout(120_000)
    const plain = await query(engineMail('Thank you for your order.'), signal)
    expect(plain).toMatchObject({ engine: 'rspamd', state: 'checked', reason: null })
    expect(plain.symbols.length).toBeGreaterThan(0)
    expect(await query(engineMail(GTUBE), signal)).toMatchObject({ action: 'reject' })
  })

  it('SpamAssassin says how many points it gives, and which rules matched', async () => {
    const query = spamassassinEngine({ address: '127.0.0.1', port: spamd.port })
    const signal = AbortSignal.timeout(120_000)
    const plain = await query(engineMail('Thank you for your order.'), signal)
    expect(plain).toMatchObject({
      engine: 'spamassassin',
      state: 'checked',
      action: 'no spam',
      threshold: 5,
    })
    const spam = await query(engineMail(GTUBE), signal)
    expect(spam.action).toBe('spam')
    expect(spam.symbols[0]).toMatchObject({ name: 'GTUBE', score: 1000 })
  })
})
