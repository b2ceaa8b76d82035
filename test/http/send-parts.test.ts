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

describe.each(['gzip', 'identity'])('a response in parts, as %s', (encoding) => {
  const get = (path: string) =>
    fetch(`${url}/parts/${path}`, { headers: { 'accept-encoding': encoding } })

  it('has all parts', async () => {
    const response = await get('40/-1')
    expect(response.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null)
    expect((await response.text()) === PART.repeat(40)).toBe(true)
    expect(await (await get('0/-1')).text()).toBe('')
  })

  it('is an error response when the first part fails', async () => {
    const response = await get('40/0')
    expect(response.status).toBe(503)
    expect(await response.json()).toHaveProperty('success', false)
  })

  it('breaks off when a later part fails, so that it is not taken for the whole', async () => {
    await expect(get('40/39').then((response) => response.text())).rejects.toThrow('terminated')
  })
})
