import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWebhooks, type Endpoint, type WebhooksTest } from './module.ts'

let portreeve: WebhooksTest
beforeAll(async () => void (portreeve = await startWebhooks()))
afterAll(() => portreeve.stop())

const VERIFYING = 'the secret that its sender signs with'
const BODY = 'anything that a sender chooses'
const hmac = (secret: string) => createHmac('sha256', secret).update(BODY).digest('hex')

const signing = (more: object = {}) =>
  portreeve.makeEndpoint({ template: true, responseBody: '{{hmac_sha256 body}}', ...more })

async function signatureFrom({ token }: Endpoint): Promise<string> {
  const answer = await portreeve.portreeve.request(`/webhooks/${token}`, {
    method: 'POST',
    body: BODY,
  })
  return answer.text()
}

async function responseSecret({ id }: Endpoint): Promise<string> {
  const { status, json } = await portreeve.api('GET', `/${id}/response-secret`)
  expect(status).toBe(200)
  return json.responseSecret
}

describe('the response secret', () => {
  it('signs templates, and is never the secret that verifies senders', async () => {
    const endpoint = await signing({ signature: { scheme: 'github', secret: VERIFYING } })
    const signature = await signatureFrom(endpoint)
    expect(signature).not.toBe(hmac(VERIFYING))
    expect(signature).toBe(hmac(await responseSecret(endpoint)))
    const forged = { 'x-hub-signature-256': `sha256=${signature}` }
    await portreeve.portreeve.request(`/webhooks/${endpoint.token}`, {
      method: 'POST',
      body: BODY,
      headers: forged,
    })
    expect((await portreeve.captured(endpoint, 2))[0]?.signature?.status).toBe('invalid')
  })

  it('belongs to one endpoint, and is the same in response and API', async () => {
    const [one, other] = [await signing(), await signing()]
    expect(await responseSecret(one)).toMatch(/^[\w-]{43}$/)
    expect(await responseSecret(one)).not.toBe(await responseSecret(other))
    expect(await signatureFrom(one)).toBe(hmac(await responseSecret(one)))
  })

  it('is replaced at once by a new one, or by a provider’s', async () => {
    const endpoint = await signing()
    const before = await signatureFrom(endpoint)
    const { json } = await portreeve.api('PUT', `/${endpoint.id}/response-secret`, {})
    expect(json.responseSecret).toBe(await responseSecret(endpoint))
    expect(await signatureFrom(endpoint)).toBe(hmac(json.responseSecret))
    expect(await signatureFrom(endpoint)).not.toBe(before)
    await portreeve.api('PUT', `/${endpoint.id}/response-secret`, { secret: 'prescribed' })
    expect(await signatureFrom(endpoint)).toBe(hmac('prescribed'))
  })

  it('cannot equal the secret that verifies senders, from either side', async () => {
    const endpoint = await signing({ signature: { scheme: 'github', secret: VERIFYING } })
    const same = await portreeve.api('PUT', `/${endpoint.id}/response-secret`, {
      secret: VERIFYING,
    })
    expect(same).toMatchObject({
      status: 400,
      json: { code: 'invalid_request', details: [{ path: 'secret' }] },
    })
    await portreeve.api('PUT', `/${endpoint.id}/response-secret`, { secret: 'prescribed' })
    const other = await portreeve.api('PUT', `/${endpoint.id}`, {
      signature: { scheme: 'github', secret: 'prescribed' },
    })
    expect(other).toMatchObject({ status: 400, json: { details: [{ path: 'signature.secret' }] } })
  })

  it('is returned by no other route, and to no other account', async () => {
    const endpoint = await signing()
    const secret = await responseSecret(endpoint)
    for (const path of ['', `/${endpoint.id}`]) {
      expect(JSON.stringify((await portreeve.api('GET', path)).json)).not.toContain(secret)
    }
    const charlie = await portreeve.portreeve.addPerson('Charlie')
    for (const method of ['GET', 'PUT']) {
      const body = method === 'PUT' ? { secret: 'of Charlie' } : undefined
      const { status } = await portreeve.api(
        method,
        `/${endpoint.id}/response-secret`,
        body,
        charlie.token,
      )
      expect(status).toBe(404)
    }
    expect(await responseSecret(endpoint)).toBe(secret)
  })
})
