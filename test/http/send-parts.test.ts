import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { PassThrough, pipeline } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type App } from '../../src/http/http-server.ts'
import { sendParts } from '../../src/http/send-parts.ts'
import { serializeInSlices } from '../../src/http/validation/serialize-slices.ts'
import { createLog } from '../../src/log.ts'

const PART = 'ü'.repeat(100_000)

const LIST = Type.Object({
  success: Type.Boolean(),
  data: Type.Object({
    others: Type.Array(Type.String()),
    rows: Type.Array(Type.Object({ id: Type.Integer(), text: Type.String() })),
  }),
  more: Type.Boolean(),
})
const rowsOf = (count: number, text: string) =>
  Array.from({ length: count }, (_, id) => ({ id, text, secret: 'not in the schema' }))
const bodyOf = (rows: { id: number; text: string }[]) => ({
  success: true,
  data: { others: ['[]', '"]'], rows },
  more: false,
})

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
  app.get('/list', { schema: { response: { 200: LIST } } }, async () =>
    bodyOf(rowsOf(20_000, 'x'.repeat(100))),
  )
  url = await app.listen({ port: 0 })
})
afterAll(() => app.close())

/** Without `fetch`, whose answers are compared with openapi.json. */
async function get(path: string, encoding: string) {
  const request = httpGet(`${url}${path}`, { headers: { 'accept-encoding': encoding } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const { 'content-encoding': used } = response.headers
  const body = used === 'gzip' ? createGunzip() : new PassThrough()
  pipeline(response, body, () => {})
  return { used, status: response.statusCode, text: readText(body) }
}

describe('a list in a response', () => {
  it.each([
    ['none', 0, ''],
    ['few', 20, 'short'],
    ['many', 5_000, 'a "text" with ], [ and {}'],
    ['large ones', 40, '€'.repeat(50_000)],
    ['one huge one', 1, 'x'.repeat(500_000)],
  ])('has the same text in slices: %s', async (_which, count, text) => {
    const body = bodyOf(rowsOf(count, text))
    const slices = serializeInSlices(JSON.stringify, body)
    expect(slices !== undefined).toBe(count > 0 && count !== 20)
    if (!slices) return
    const texts = await Array.fromAsync(slices)
    expect(texts.join('') === JSON.stringify(body)).toBe(true)
    // A slice is as long as its longest row, or about 64 KiB.
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(text.length + 100_000)
  })

  it('may be one by name', async () => {
    const named = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`f}{${n}`, { n }]))
    const body = { success: true, progress: { done: 1, folders: named, errors: [] } }
    const texts = await Array.fromAsync(serializeInSlices(JSON.stringify, body) ?? [])
    expect(texts.length).toBeGreaterThan(1)
    expect(texts.join('')).toBe(JSON.stringify(body))
  })

  it('may be the whole body', async () => {
    const body = rowsOf(5_000, 'text')
    const texts = await Array.fromAsync(serializeInSlices(JSON.stringify, body) ?? [])
    expect(texts.length).toBeGreaterThan(1)
    expect(texts.join('')).toBe(JSON.stringify(body))
  })

  it('follows its schema, and lets others have their turn between its slices', async () => {
    let turns = 0
    const count = () => void (turns++, (timer = setImmediate(count)))
    let timer = setImmediate(count)
    const { text } = await get('/list', 'identity')
    const { data } = JSON.parse(await text) as { data: { rows: object[] } }
    clearImmediate(timer)
    expect(data.rows).toHaveLength(20_000)
    expect(data.rows[7]).toEqual({ id: 7, text: 'x'.repeat(100) })
    expect(turns).toBeGreaterThan(20)
  })
})

describe.each([
  ['compressed', 'gzip', 'gzip'],
  ['as it is', 'identity', undefined],
])('a response in parts, %s', (_, accepted, used) => {
  it('has all parts', async () => {
    const response = await get('/parts/40/-1', accepted)
    expect(response.used).toBe(used)
    expect((await response.text) === PART.repeat(40)).toBe(true)
    expect(await (await get('/parts/0/-1', accepted)).text).toBe('')
  })

  it('is an error response when the first part fails', async () => {
    const { status, text } = await get('/parts/40/0', accepted)
    expect(status).toBe(503)
    expect(JSON.parse(await text)).toHaveProperty('success', false)
  })

  it('breaks off when a later part fails, so that it is not taken for the whole', async () => {
    const { status, text } = await get('/parts/40/39', accepted)
    expect(status).toBe(200)
    await expect(text).rejects.toThrow('aborted')
  })
})
