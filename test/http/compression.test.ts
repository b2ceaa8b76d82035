import { get as httpGet, type IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedService, type TestService } from '../service.ts'

let portreeve: TestService
let token: string
beforeAll(async () => {
  portreeve = await sharedService()
  ;({ token } = await portreeve.addPerson('Alice'))
})
afterAll(() => portreeve.stop())

/** Without the decompression of `fetch`. */
async function get(path: string, headers: Record<string, string>) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const url = new URL(path, portreeve.url)
  httpGet(url, { headers: { authorization: `Bearer ${token}`, ...headers } }, resolve).on(
    'error',
    reject,
  )
  const response = await promise
  const { 'content-encoding': encoding, vary } = response.headers
  return { encoding, vary, body: Buffer.concat(await response.toArray()) }
}

const LARGE = '/api/v1/alerts/channel-types'

describe('the compression of responses', () => {
  it('makes large JSON small for clients that accept gzip, and says that it depends', async () => {
    const plain = await get(LARGE, {})
    const packed = await get(LARGE, { 'accept-encoding': 'gzip, br' })
    expect([plain.encoding, packed.encoding]).toEqual([undefined, 'gzip'])
    expect(gunzipSync(packed.body)).toEqual(plain.body)
    expect(packed.body.length).toBeLessThan(plain.body.length / 3)
    expect(packed.vary).toBe('accept-encoding')
  })

  it('leaves small responses, and clients that refuse gzip, alone', async () => {
    const small = await get('/api/v1/account', { 'accept-encoding': 'gzip' })
    const refused = await get(LARGE, { 'accept-encoding': 'gzip;q=0' })
    expect([small.encoding, refused.encoding]).toEqual([undefined, undefined])
    expect(JSON.parse(String(refused.body))).toHaveProperty('success', true)
  })

  it('leaves event streams as they are, so that their events arrive at once', async () => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' }
    httpGet(new URL('/api/v1/events', portreeve.url), { headers }, (response) => {
      resolve(response.headers['content-encoding'])
      response.destroy()
    })
    expect(await promise).toBeUndefined()
  })
})
