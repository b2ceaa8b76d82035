import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { freePort } from '../free-port.ts'
import { startReceiver, status } from '../servers/receiver.ts'
import { swaks } from '../servers/swaks.ts'
import { startWebhooks, type WebhooksTest } from './module.ts'

const MAIL = [
  'From: Anna <anna@sender.test>',
  'To: hook@reports.test',
  'Subject: Order 42',
  'Message-ID: <42@sender.test>',
  'X-Long: one',
  '\ttwo',
  '',
  'Hello',
  '',
].join('\r\n')

let portreeve: WebhooksTest
let database: Database
let port: number

beforeAll(async () => {
  port = await freePort()
  portreeve = await startWebhooks({
    SMTP_LISTEN: `127.0.0.1:${port}`,
    REPORT_DOMAIN: 'reports.test',
    WEBHOOK_FORWARDING: 'all',
    FORWARD_PRIVATE_TARGETS: '127.0.0.1',
    REQUEST_LIMITS: 'off',
  })
  database = openDatabase(portreeve.portreeve.databaseUrl)
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
})

const send = (address: string, mail = MAIL) =>
  swaks(port, address, mail, '--from', 'anna@sender.test', '--helo', 'mail.sender.test')

describe('the address of an endpoint', () => {
  it('captures each mail as a request, acknowledged once it is stored', async () => {
    const endpoint = await portreeve.makeEndpoint({ receivesEmail: true })
    expect(endpoint.emailAddress).toMatch(/^h[a-z2-7]{16}@reports\.test$/)
    const sent = await send(endpoint.emailAddress ?? '')
    expect(sent.code, sent.transcript).toBe(0)
    // Stored when it was acknowledged: nothing is waited for.
    const { rows } = await database.pool.query(
      'select from webhook_request where endpoint_id = $1',
      [endpoint.id],
    )
    expect(rows).toHaveLength(1)
    const [request] = await portreeve.captured(endpoint)
    expect(request).toMatchObject({
      method: 'EMAIL',
      path: '',
      ip: '127.0.0.1',
      contentType: 'message/rfc822',
      responseStatus: 250,
      truncated: false,
    })
    expect(request?.headers).toContainEqual(['Subject', 'Order 42'])
    expect(request?.headers).toContainEqual(['X-Long', 'one\ttwo'])
    expect(request?.body).toContain('Subject: Order 42\r\n')
    expect(request?.body).toContain('\r\n\r\nHello')
    const { json } = await portreeve.api('GET', `/${endpoint.id}/requests/${request?.id}`)
    expect(json.curl).toBeNull()
  })

  it.each([
    ['an emoji where a long field is cut', `Subject: ${'x'.repeat(7_999)}😀😀\r\n\r\nHello\r\n`],
    ['bytes that are no UTF-8', 'Subject: \u00c3\u0028 \ud83d\r\n\r\nHello\r\n'],
    ['no header', '\r\nHello\r\n'],
    ['lines that are no fields', 'Subject: x\r\nno field here\r\n : empty\r\n\r\nHello\r\n'],
    ['300 fields', `${'X-Same: y\r\n'.repeat(300)}\r\nHello\r\n`],
    ['a field named as a property of objects', '__proto__: x\r\nconstructor: y\r\n\r\nHello\r\n'],
  ])('captures a mail with %s', async (_what, mail) => {
    const endpoint = await portreeve.makeEndpoint({ receivesEmail: true })
    const sent = await send(endpoint.emailAddress ?? '', mail)
    expect(sent.code, sent.transcript).toBe(0)
    const [request] = await portreeve.captured(endpoint)
    expect(request).toMatchObject({ method: 'EMAIL', bodySize: expect.any(Number) })
    expect(request?.body).toContain('Hello')
    const found = await portreeve.api('GET', `/${endpoint.id}/requests?q=hello`)
    expect(found.json.requests).toHaveLength(1)
  })

  it('captures a bounce, and a mail for two endpoints for each of them', async () => {
    const [one, two] = [
      await portreeve.makeEndpoint({ receivesEmail: true }),
      await portreeve.makeEndpoint({ receivesEmail: true }),
    ]
    const both = `${one.emailAddress?.toUpperCase()},${two.emailAddress}`
    const sent = await swaks(port, both, MAIL, '--from', '<>', '--helo', 'mail.sender.test')
    expect(sent.code, sent.transcript).toBe(0)
    for (const endpoint of [one, two])
      expect((await portreeve.captured(endpoint))[0]).toMatchObject({ method: 'EMAIL' })
  })

  it('recognizes a mail that its server sends again', async () => {
    const endpoint = await portreeve.makeEndpoint({ receivesEmail: true })
    for (let count = 0; count < 2; count++) await send(endpoint.emailAddress ?? '')
    const [second, first] = await portreeve.captured(endpoint, 2)
    expect(second).toMatchObject({ repeatOf: first?.id })
  })

  it('forwards the mail as it is, to destinations whose conditions it meets', async () => {
    const receiver = await startReceiver(status(204))
    const endpoint = await portreeve.makeEndpoint({ receivesEmail: true })
    for (const when of [{ method: 'EMAIL', 'headers.subject': 'Order 42' }, { method: 'POST' }]) {
      const body = { url: `${receiver.origin}/mails`, when }
      await portreeve.api('POST', `/${endpoint.id}/destinations`, body)
    }
    await send(endpoint.emailAddress ?? '')
    await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(1)
    const [request] = receiver.received
    expect([request?.method, request?.path]).toEqual(['POST', '/mails'])
    expect(request?.headers['content-type']).toBe('message/rfc822')
    expect(request?.headers['subject']).toBeUndefined()
    expect(request?.headers['webhook-signature']).toMatch(/^v1,/)
    const [captured] = await portreeve.captured(endpoint)
    expect(request?.body).toBe(captured?.body)
    await receiver.close()
  })

  it('keeps a mail of more than 1 MiB in part, and refuses one of more than 10 MB', async () => {
    const endpoint = await portreeve.makeEndpoint({ receivesEmail: true })
    const line = `${'x'.repeat(70)}\r\n`
    await send(endpoint.emailAddress ?? '', MAIL + line.repeat(20_000))
    const [request] = await portreeve.captured(endpoint)
    expect(request).toMatchObject({ truncated: true })
    const refused = await send(endpoint.emailAddress ?? '', MAIL + line.repeat(160_000))
    expect(refused.transcript).toContain('552 5.3.4')
    expect(await portreeve.captured(endpoint)).toHaveLength(1)
  })

  it('is another one after it was off, and the old one is refused at RCPT', async () => {
    const endpoint = await portreeve.makeEndpoint({ receivesEmail: true })
    const first = endpoint.emailAddress ?? ''
    const change = async (receivesEmail: boolean) =>
      (await portreeve.api('PUT', `/${endpoint.id}`, { receivesEmail })).json.endpoint
    expect((await change(true)).emailAddress).toBe(first)
    expect(await change(false)).toMatchObject({ emailAddress: null, receivesEmail: false })
    expect((await send(first)).transcript).toMatch(/RCPT TO:<h.*\r?\n.*550 /)
    const second = (await change(true)).emailAddress ?? ''
    expect(second).not.toBe(first)
    expect((await send(first)).transcript).toContain('550 ')
    expect((await send(second)).code).toBe(0)
    await portreeve.api('DELETE', `/${endpoint.id}`)
    expect((await send(second)).transcript).toContain('550 ')
  })
})

describe('a service that receives no mail', () => {
  it('has no addresses', async () => {
    const other = await startWebhooks({ SMTP_LISTEN: 'off' })
    try {
      const { json } = await other.api('POST', '', { receivesEmail: true })
      expect(json).toMatchObject({ code: 'invalid_request' })
      expect(json.details).toEqual([expect.objectContaining({ path: 'receivesEmail' })])
      expect(await other.makeEndpoint()).toMatchObject({ emailAddress: null, receivesEmail: false })
    } finally {
      await other.stop()
    }
  })
})
