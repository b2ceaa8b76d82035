import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { MailTest } from '../../src/deliverability/shapes.ts'
import { freePort } from '../free-port.ts'
import { makeCertificate } from '../servers/certificates.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startPostfix, type Postfix } from '../servers/postfix.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

describe('a mail server of Debian (Postfix, OpenDKIM)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-postfix-test-'))
  let service: TestService
  let dns: DnsServer
  let postfix: Postfix
  let alice: Person

  beforeAll(async () => {
    const { key, cert } = makeCertificate({
      subject: '/CN=tests.test',
      altNames: ['DNS:tests.test'],
    })
    writeFileSync(join(folder, 'key.pem'), key)
    writeFileSync(join(folder, 'cert.pem'), cert)
    const port = await freePort()
    postfix = await startPostfix('sender.test', port)
    dns = await startDns({
      records: {
        'sender.test A': ['127.0.0.1'],
        'sender.test MX': ['10 mail.sender.test'],
        'sender.test TXT': ['v=spf1 ip4:127.0.0.1 -all'],
        'mail.sender.test A': ['127.0.0.1'],
        '1.0.0.127.in-addr.arpa PTR': ['mail.sender.test'],
        '_dmarc.sender.test TXT': ['v=DMARC1; p=reject'],
        's1._domainkey.sender.test TXT': [`v=DKIM1; p=${postfix.publicKey}`],
      },
    })
    service = await startTestService({
      SMTP_LISTEN: `127.0.0.1:${port}`,
      SMTP_TLS_CERT: join(folder, 'cert.pem'),
      SMTP_TLS_KEY: join(folder, 'key.pem'),
      REPORT_DOMAIN: 'tests.test',
      DNS_SERVERS: `127.0.0.1:${dns.port}`,
      DNSBL_SERVERS: `127.0.0.1:${dns.port}`,
    })
    alice = await service.addPerson('Alice')
  }, 120_000)
  afterAll(async () => {
    await Promise.all([service?.stop(), dns?.close(), postfix?.stop()])
    rmSync(folder, { recursive: true })
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

  /** Sends a mail through Postfix, and waits for its findings. */
  async function send(message: object): Promise<NonNullable<MailTest['mails'][0]>> {
    const { id, address } = await ask('', {})
    const transport = createTransport({
      host: '127.0.0.1',
      port: postfix.port,
      secure: false,
      ignoreTLS: true,
    })
    await transport.sendMail({
      from: 'Anna <anna@sender.test>',
      to: address ?? '',
      subject: 'Your order',
      ...message,
    })
    return vi.waitFor(
      async () => {
        const [mail] = (await ask(`/${id}`)).mails
        expect(mail, postfix.log()).toMatchObject({ state: 'done' })
        return mail!
      },
      { timeout: 120_000, interval: 200 },
    )
  }

  it('passes every check that needs no public address', async () => {
    const text = 'Hello,\n\nthank you for your order. We send it tomorrow.\n\nAnna\n'
    const mail = await send({
      text,
      html: '<p>Hello,</p><p>thank you for your order. We send it tomorrow.</p><p>Anna</p>',
    })
    const failed = mail.findings.filter(({ state }) => state === 'failed')
    expect(failed.filter(({ severity }) => severity !== 'note')).toEqual([])
    const passed = new Set(
      mail.findings.filter(({ state }) => state === 'passed').map(({ id }) => id),
    )
    for (const id of [
      'tls',
      'ehlo',
      'spf',
      'dkim',
      'dmarc',
      'dkim-oversigning',
      'dkim-fields',
      'helo-address',
      'reverse-name',
      'mime-parts',
    ])
      expect(passed).toContain(id)
    expect(mail.tls).toMatch(/^TLSv1\.[23]/)
    expect(mail.helo).toBe('mail.sender.test')
  })

  it('cannot hide the faults of a mail', async () => {
    const mail = await send({
      html: '<img src="http://www.sender.test/all.png"><a href="https://bit.ly/x">https://www.bank.test</a>',
      attachments: [{ filename: 'invoice.exe', content: 'MZ' }],
    })
    const failed = mail.findings.filter(({ state }) => state === 'failed').map(({ id }) => id)
    expect(failed).toEqual(
      expect.arrayContaining([
        'attachment-programs',
        'text-part',
        'image-share',
        'link-shorteners',
        'link-text',
        'image-links',
      ]),
    )
    expect(mail.verdict).toContain('1 problem can block this mail')
  })
})
