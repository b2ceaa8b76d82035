import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { freePort } from '../free-port.ts'
import { publicKeyOf, signedMail, type SignatureSpec } from '../protocols/mail/signed-mail.ts'
import { makeCertificate } from '../servers/certificates.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { swaks } from '../servers/swaks.ts'
import { runInProcess } from '../cli/command.ts'
import { accountOn, fill } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import type { MailTest } from '../../src/deliverability/shapes.ts'

const WAIT = { timeout: 60_000, interval: 50 }
const ADDRESS = /^t[a-z2-7]{16}@tests\.test$/

const RECORDS = {
  'sender.test A': ['127.0.0.1'],
  'sender.test MX': ['10 mail.sender.test'],
  'sender.test TXT': ['v=spf1 ip4:127.0.0.1 -all'],
  'mail.sender.test A': ['127.0.0.1'],
  '1.0.0.127.in-addr.arpa PTR': ['mail.sender.test'],
  '_dmarc.sender.test TXT': ['v=DMARC1; p=reject'],
  's1._domainkey.sender.test TXT': [`v=DKIM1; p=${publicKeyOf('rsa')}`],
}

function mailTo(address: string, { isSigned = true, subject = 'Hello' } = {}): string {
  const signature: SignatureSpec = {
    tags: { d: 'sender.test', s: 's1', h: 'from:from:to:subject:date:message-id' },
  }
  return signedMail({
    fields: [
      'From: Anna <anna@sender.test>',
      `To: <${address}>`,
      `Subject: ${subject}`,
      `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
      'Message-ID: <1@sender.test>',
    ],
    body: 'Hello,\r\n\r\nthis is a short message.\r\n',
    signatures: isSigned ? [signature] : [],
  })
}

describe('mail tests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-mail-tests-'))
  let service: TestService
  let dns: DnsServer
  let port: number
  let alice: Person

  beforeAll(async () => {
    const { key, cert } = makeCertificate({
      subject: '/CN=tests.test',
      altNames: ['DNS:tests.test'],
    })
    writeFileSync(join(folder, 'key.pem'), key)
    writeFileSync(join(folder, 'cert.pem'), cert)
    dns = await startDns({ records: RECORDS })
    port = await freePort()
    service = await startTestService({
      SMTP_LISTEN: `127.0.0.1:${port}`,
      SMTP_TLS_CERT: join(folder, 'cert.pem'),
      SMTP_TLS_KEY: join(folder, 'key.pem'),
      REPORT_DOMAIN: 'tests.test',
      DNS_SERVERS: `127.0.0.1:${dns.port}`,
      DNSBL_SERVERS: `127.0.0.1:${dns.port}`,
    })
  })
  afterAll(async () => {
    await service.stop()
    await dns.close()
    rmSync(folder, { recursive: true })
  })
  beforeEach(async () => {
    alice = await service.addPerson('Alice')
  })

  async function ask(path: string, init: { method?: string; body?: object; token?: string } = {}) {
    const { body, token = alice.token, method = body ? 'POST' : 'GET' } = init
    const response = await service.request(`/api/v1/mail-tests${path}`, {
      method,
      token,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return {
      status: response.status,
      body: (await response.json()) as { data: MailTest; error: string },
    }
  }
  const create = async () => (await ask('', { body: {} })).body.data
  const send = (address: string, mail: string, ...more: string[]) =>
    swaks(port, address, mail, '--from', 'anna@sender.test', '--helo', 'mail.sender.test', ...more)
  const done = (id: string, count = 1) =>
    vi.waitFor(async () => {
      const { data } = (await ask(`/${id}`)).body
      expect(data.mails.map(({ state }) => state)).toEqual(
        Array.from({ length: count }, () => 'done'),
      )
      return data
    }, WAIT)
  const stateOf = (test: MailTest, id: string, mail = 0) =>
    test.mails[mail]?.findings.find((finding) => finding.id === id)?.state

  it('explain a mail that was sent to their address over TLS', async () => {
    const { id, address } = await create()
    expect(address).toMatch(ADDRESS)
    const sent = await send(address ?? '', mailTo(address ?? ''), '--tls')
    expect(sent.code, sent.transcript).toBe(0)
    const test = await done(id)
    const [mail] = test.mails
    expect(mail).toMatchObject({
      origin: 'smtp',
      subject: 'Hello',
      helo: 'mail.sender.test',
      mailFrom: 'anna@sender.test',
      verdict: expect.stringContaining('nothing blocks or hurts'),
      // Lists do not have addresses of this machine.
      firstStep: expect.stringMatching(/^“Important address blocklists” is not known:/),
      changes: null,
    })
    expect(mail?.tls).toMatch(/^TLSv1\.3, /)
    for (const check of ['spf', 'dkim', 'dmarc', 'tls', 'reverse-name', 'helo-address', 'ehlo'])
      expect({ check, state: stateOf(test, check) }).toEqual({ check, state: 'passed' })
    expect(stateOf(test, 'address-lists')).toBe('not-checked')
    expect(mail?.transcript?.join('\n')).toMatch(/MAIL FROM:<anna@sender\.test>[^]*DATA/)
    expect(mail?.transcript?.join('\n')).not.toContain('short message')
    expect(mail?.receivers.map(({ receiver }) => receiver)).toContain('google')
    expect(mail?.background.map(({ id: fact }) => fact)).toContain('domain-age')
  })

  it('show what changed in the second mail, and take three', async () => {
    const { id, address } = await create()
    await send(address ?? '', mailTo(address ?? '', { isSigned: false }))
    const first = await done(id)
    expect(stateOf(first, 'dkim')).toBe('failed')
    // What follows from that is no second problem.
    expect(stateOf(first, 'dkim-aligned')).toBe('not-checked')
    expect(stateOf(first, 'tls')).toBe('failed')
    expect(first.mails[0]?.firstStep).toMatch(/^Start with “Encrypted connection”: Turn on TLS/)
    await send(address ?? '', mailTo(address ?? ''), '--tls')
    const second = await done(id, 2)
    expect(second.mails[1]?.changes).toEqual(
      expect.arrayContaining([
        { id: 'dkim', title: 'DKIM', before: 'failed', after: 'passed' },
        { id: 'tls', title: 'Encrypted connection', before: 'failed', after: 'passed' },
      ]),
    )
    await send(address ?? '', mailTo(address ?? ''))
    expect((await done(id, 3)).isOpen).toBe(false)
    expect((await send(address ?? '', mailTo(address ?? ''))).transcript).toContain('550 5.2.2')
  })

  it('are listed with the domain in From of their first mail', async () => {
    const { id, address } = await create()
    await send(address ?? '', mailTo(address ?? ''))
    await done(id)
    const own = await create()
    const listed = async (domain: string) => {
      const { body } = await ask(`?domain=${domain}`)
      return (body.data as unknown as { id: string; domain: string }[]).map((test) => test.domain)
    }
    expect(await listed('sender.test')).toEqual(['sender.test'])
    expect(await listed('ender.test')).toEqual([])
    expect((await ask(`/${own.id}`)).body.data.domain).toBeNull()
    const raw = mailTo('x@tests.test').replaceAll('anna@sender.test', 'anna@shop.sender.test')
    await ask('/raw', { body: { message: raw } })
    expect(await listed('sender.test')).toEqual(['shop.sender.test', 'sender.test'])
    expect(await listed('shop.sender.test')).toEqual(['shop.sender.test'])
  })

  it('have no address before they are created, and none after they are deleted', async () => {
    const unknown = await send('taaaaaaaaaaaaaaaa@tests.test', mailTo('x@tests.test'))
    expect(unknown.transcript).toContain('550 5.1.1')
    const { id, address } = await create()
    expect((await ask(`/${id}`, { method: 'DELETE' })).status).toBe(200)
    expect((await send(address ?? '', mailTo(address ?? ''))).transcript).toContain('550 5.1.1')
    expect((await ask(`/${id}`)).status).toBe(404)
  })

  it('are limited to five open ones of an account', async () => {
    for (let count = 0; count < 5; count++) expect((await ask('', { body: {} })).status).toBe(201)
    const { status, body } = await ask('', { body: {} })
    expect({ status, error: body.error }).toEqual({
      status: 409,
      error: expect.stringContaining('up to 5 open mail tests'),
    })
  })

  it('check a mail from a file, as reported', async () => {
    const message = [
      'Return-Path: <anna@sender.test>',
      'Received: from mail.sender.test (mail.sender.test [127.0.0.1])\r\n\tby mx.other.test with ESMTPS id 1;\r\n\tMon, 30 Nov 2026 09:00:00 +0000',
      mailTo('someone@other.test'),
    ].join('\r\n')
    const { status, body } = await ask('/raw', { body: { message } })
    expect(status).toBe(201)
    const test = await done(body.data.id)
    expect(test.mails[0]).toMatchObject({
      origin: 'raw',
      ip: '127.0.0.1',
      helo: 'mail.sender.test',
    })
    expect(stateOf(test, 'spf')).toBe('passed')
    expect(stateOf(test, 'dkim')).toBe('passed')
    expect(stateOf(test, 'tls')).toBe('not-checked')
    const encoded = {
      message: Buffer.from(message).toString('base64'),
      encoding: 'base64',
      test: test.id,
      ip: '127.0.0.9',
    }
    expect((await ask('/raw', { body: encoded })).status).toBe(201)
    expect(stateOf(await done(test.id, 2), 'spf', 1)).toBe('failed')
    expect((await ask('/raw', { body: { message: 'nothing' } })).status).toBe(400)
    expect((await ask('/raw', { body: { message, ip: 'x' } })).status).toBe(400)
  })

  it('are shared by a link, without their address, until it ends', async () => {
    const { id, address } = await create()
    await send(address ?? '', mailTo(address ?? ''), '--tls')
    await done(id)
    const url = (await ask(`/${id}/share`, { method: 'POST' })).body.data.url ?? ''
    const token = url.split('/').at(-1)
    const read = () => service.request(`/api/v1/shared-mail-tests/${token}`)
    const text = await (await read()).text()
    expect(JSON.parse(text)).toMatchObject({
      success: true,
      data: { mails: [{ subject: 'Hello' }] },
    })
    expect(text).not.toContain('RCPT')
    await ask(`/${id}/share`, { method: 'DELETE' })
    expect((await read()).status).toBe(404)
  })

  it('are seen by their workspace alone', async () => {
    const { id } = await create()
    const bob = await service.addPerson('Bob')
    expect((await ask(`/${id}`, { token: bob.token })).status).toBe(404)
    expect((await ask(`/${id}`, { token: bob.token, method: 'DELETE' })).status).toBe(404)
    expect((await ask('', { token: bob.token })).body.data).toEqual([])
  })

  it('are created and printed by the command line', async () => {
    const env = { PORTREEVE_URL: service.url, PORTREEVE_TOKEN: alice.token }
    const created = await runInProcess(['mail-test', '--json'], env)
    expect(created.code, created.err).toBe(0)
    const { data } = JSON.parse(created.out) as { data: MailTest }
    expect(data.address).toMatch(ADDRESS)
    const file = join(folder, 'mail.eml')
    writeFileSync(file, mailTo('someone@other.test', { subject: 'A saved mail' }))
    const tested = await runInProcess(['mail-test', '--file', file], env)
    expect(tested.out).toContain('A saved mail')
    expect(tested.out).toMatch(/Gmail, below 5,000 a day: \d+ of 10 requirements/)
    expect((await runInProcess(['mail-test', '--file', '/nowhere.eml'], env)).code).toBe(2)
  })

  it('take mail from a report mailbox that names their code, where there is no port 25', async () => {
    const server = await startDovecot()
    try {
      await server.addUser('reports', 'secret')
      const mailbox = {
        host: '127.0.0.1',
        port: server.port,
        secure: false,
        user: 'reports',
        password: 'secret',
      }
      await service.request('/api/v1/dmarc/mailboxes', {
        method: 'POST',
        token: alice.token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(mailbox),
      })
      const { id, code, mailboxes } = await create()
      expect(mailboxes).toEqual(['reports'])
      const received =
        'Return-Path: <anna@sender.test>\r\nReceived: from mail.sender.test (mail.sender.test [127.0.0.1])\r\n\tby mx.own.test with ESMTPS; Mon, 30 Nov 2026 09:00:00 +0000\r\n'
      const mail = received + mailTo('reports@own.test', { subject: `Test ${code}` })
      await fill(accountOn(server.port, 'reports'), { INBOX: [{ body: mail }] })
      const { data } = (await (
        await service.request('/api/v1/dmarc/mailboxes', { token: alice.token })
      ).json()) as { data: { id: string }[] }
      const read = () =>
        service.request(`/api/v1/dmarc/mailboxes/${data[0]?.id}/fetch`, {
          method: 'POST',
          token: alice.token,
        })
      expect((await read()).ok).toBe(true)
      const test = await done(id)
      expect(test.mails[0]).toMatchObject({
        origin: 'imap',
        ip: '127.0.0.1',
        helo: 'mail.sender.test',
        tls: null,
      })
      expect(stateOf(test, 'spf')).toBe('passed')
    } finally {
      await server.stop()
    }
  })

  it('send their findings as events, the first ones within two seconds', async () => {
    const { id, address } = await create()
    const ended = new AbortController()
    const response = await service.request(`/api/v1/mail-tests/${id}/events`, {
      token: alice.token,
      signal: ended.signal,
    })
    const events = readEvents(response)
    expect(await events.next()).toMatchObject({ value: { mails: [] } })
    await send(address ?? '', mailTo(address ?? ''), '--tls')
    const sentAt = performance.now()
    let firstAt = 0
    for await (const test of events) {
      const [mail] = test.mails
      if (mail && mail.findings.length > 0) firstAt ||= performance.now() - sentAt
      if (mail?.state === 'done') break
    }
    // Two seconds and ten are the aims; the bounds allow for a busy machine.
    expect(firstAt).toBeLessThan(20_000)
    expect(performance.now() - sentAt).toBeLessThan(100_000)
    ended.abort()
  })
})

async function* readEvents(response: Response): AsyncGenerator<MailTest> {
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data !== undefined) yield JSON.parse(data) as MailTest
    }
  }
}
