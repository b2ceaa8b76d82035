import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { PassThrough, pipeline } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type App } from '../../src/http/server.ts'
import { sendParts } from '../../src/http/send-parts.ts'
import { createLog } from '../../src/log.ts'

const PART = 'ü'.repeat(100_000)

let app: App
let url: string
beforeAll(async () => {
  app = await createServer({
    log: createLog('silent'),
    version: '0.0.0',
    trustedProxies: [],
    isUnavailable: (error) => error instanceof Error && error.message === 'connection refused',
    isReady: async () => true,
  })
  app.get('/parts/:count/:failsAt', async (request, reply) => {
    const [count = 0, failsAt = 0] = Object.values(request.params as object).map(Number)
    async function* parts() {
      for (let part = 0; part < count; part++) {
        if (part === failsAt) throw new Error('connection refused')
        yield PART
      }
    }
    return sendParts(reply.type('application/json'), parts())
  })
  url = await app.listen({ port: 0 })
})
afterAll(() => app.close())

/** Without `fetch`, whose answers are compared with openapi.json. */
async function get(path: string, encoding: string) {
  const request = httpGet(`${url}/parts/${path}`, { headers: { 'accept-encoding': encoding } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const { 'content-encoding': used } = response.headers
  const body = used === 'gzip' ? createGunzip() : new PassThrough()
  pipeline(response, body, () => {})
  return { used, status: response.statusCode, text: readText(body) }
}

describe.each([
  ['compressed', 'gzip', 'gzip'],
  ['as it is', 'identity', undefined],
])('a response in parts, %s', (_, accepted, used) => {
  it('has all parts', async () => {
    const response = await get('40/-1', accepted)
    expect(response.used).toBe(used)
    expect((await response.text) === PART.repeat(40)).toBe(true)
    expect(await (await get('0/-1', accepted)).text).toBe('')
  })

  it('is an error response when the first part fails', async () => {
    const { status, text } = await get('40/0', accepted)
    expect(status).toBe(503)
    expect(JSON.parse(await text)).toHaveProperty('success', false)
  })

  it('breaks off when a later part fails, so that it is not taken for the whole', async () => {
    const { status, text } = await get('40/39', accepted)
    expect(status).toBe(200)
    await expect(text).rejects.toThrow('aborted')
  })
})
