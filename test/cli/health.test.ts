import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runInProcess } from './command.ts'
import { freePort } from '../free-port.ts'

let port: string
let status = 200
const server = createServer(({ url }, response) => {
  response.statusCode = url === '/readyz' ? status : 404
  response.end()
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = String((server.address() as AddressInfo).port)
})
afterAll(() => void server.close())

describe('portreeve health', () => {
  it('asks the HTTP server, also when it listens everywhere, and METRICS_LISTEN is off', async () => {
    const settings = { PORT: port, HOST: '0.0.0.0', METRICS_LISTEN: 'off' }
    expect(await runInProcess(['health'], settings)).toEqual({
      code: 0,
      out: `Portreeve is ready on 127.0.0.1:${port}.\n`,
      err: '',
    })
    const { out } = await runInProcess(['health', '--json'], settings)
    expect(JSON.parse(out)).toMatchObject({ success: true, data: { isReady: true } })
  })
  it('asks the metrics server of an instance without the role web', async () => {
    const settings = { ROLES: 'worker', PORT: '1', METRICS_LISTEN: `127.0.0.1:${port}` }
    expect(await runInProcess(['health'], settings)).toMatchObject({ code: 0 })
    expect(await runInProcess(['health'], { ROLES: 'worker' })).toEqual({
      code: 1,
      out: 'This instance has no server to ask: without the role web, set METRICS_LISTEN, such as 127.0.0.1:9464.\n',
      err: '',
    })
  })
  it('fails with a sentence while the service is not ready, and without one', async () => {
    status = 503
    const waiting = await runInProcess(['health'], { PORT: port })
    expect([waiting.code, waiting.out]).toEqual([
      1,
      `Portreeve on 127.0.0.1:${port} is not ready: its database is unavailable, or it is starting.\n`,
    ])
    const closed = await runInProcess(['health'], { PORT: String(await freePort()) })
    expect(closed.code).toBe(1)
    expect(closed.out).toMatch(/^Portreeve does not answer on 127.0.0.1:\d+: .*ECONNREFUSED.*\.\n$/)
  })
})
