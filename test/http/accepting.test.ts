import { connect, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { STOP_GRACE_MS } from '../../src/http/limits/server-limits.ts'
import { closeWithin, listen } from '../../src/http/listen.ts'
import { createServer as createApp, type App } from '../../src/http/http-server.ts'
import { createLog } from '../../src/log.ts'

let app: App
afterEach(() => closeWithin(app, STOP_GRACE_MS))

async function start(port = 0): Promise<number> {
  const deps = { log: createLog('silent'), version: '0', trustedProxies: [] }
  app = await createApp({ ...deps, isUnavailable: () => false, isReady: async () => true })
  await listen(app, '127.0.0.1', port)
  return (app.server.address() as { port: number }).port
}

/** Counts turns of the event loop until it is stopped. */
function countTurns(): { turns: () => number } {
  let turns = 0
  let next = setImmediate(function turn() {
    turns += 1
    next = setImmediate(turn)
  })
  onTestFinished(() => clearImmediate(next))
  return { turns: () => turns }
}

describe('a server to which one client opens hundreds of connections', () => {
  it.runIf(process.platform === 'linux')(
    'accepts a new connection within a few turns of the event loop',
    async () => {
      const port = await start()
      const open = (): Socket => connect(port, '127.0.0.1').on('error', () => {})
      const crowd = Array.from({ length: 400 }, open)
      onTestFinished(() => crowd.forEach((socket) => socket.destroy()))
      const late = open()
      late.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
      const { turns } = countTurns()
      await once(late, 'data')
      late.destroy()
      expect(turns()).toBeLessThan(200)
    },
  )
})

describe('a port', () => {
  it('that another server uses is rejected, also where both could share it', async () => {
    const other = createServer().listen({
      port: 0,
      host: '127.0.0.1',
      reusePort: process.platform === 'linux',
    })
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as { port: number }
    await expect(start(port)).rejects.toThrow(
      `Cannot listen on 127.0.0.1 port ${port}: the port is in use.`,
    )
  })
})
