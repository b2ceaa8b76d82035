import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import {
  startSmtpServer,
  type SmtpServer,
  type SmtpServerLimits,
} from '../../src/net/smtp-server.ts'

let server: SmtpServer | undefined
afterEach(async () => server?.close())

const taken: number[] = []
const lookedUp: string[] = []

async function open(limits: Partial<SmtpServerLimits>): Promise<Socket> {
  taken.length = 0
  lookedUp.length = 0
  server = await startSmtpServer({
    listen: { address: '127.0.0.1', port: 0 },
    name: 'reports.portreeve.test',
    certificate: null,
    onRecipient: async (address) => {
      lookedUp.push(address)
      return address.startsWith('nobody') ? null : address
    },
    onMail: async ({ bytes }) => void taken.push(bytes.length),
    log: createLog('silent'),
    limits: { closingMs: 500, ...limits },
  })
  const socket = connect(server.port, '127.0.0.1').on('error', () => {})
  // Who talks before the greeting is sent away.
  await once(socket, 'data')
  return socket
}

async function heardFrom(socket: Socket): Promise<string> {
  let said = ''
  socket.on('data', (bytes: Buffer) => (said += bytes.toString()))
  await once(socket, 'close')
  return said
}

const ENVELOPE = 'EHLO x\r\nMAIL FROM:<a@receiver.test>\r\nRCPT TO:<b@reports.test>\r\nDATA\r\n'

describe('the SMTP server', () => {
  it('disconnects clients that send commands slowly, or only no-ops', async () => {
    const socket = await open({ sessionMs: 400 })
    const timer = setInterval(() => socket.write('NOOP\r\n'), 50)
    const said = await heardFrom(socket)
    clearInterval(timer)
    expect(said).toContain('421 4.4.2 Session too long')
  })

  it('disconnects a client whose message never ends, and stores nothing', async () => {
    const socket = await open({ maxMailBytes: 100_000 })
    socket.write(ENVELOPE)
    const piece = Buffer.alloc(10_000, 'x'.repeat(70).concat('\r\n'))
    const timer = setInterval(() => socket.writable && socket.write(piece), 5)
    const said = await heardFrom(socket)
    clearInterval(timer)
    expect(said).toContain('421 4.3.1 The message does not end')
    expect(taken).toEqual([])
  })

  it('disconnects a client that sends a mail slowly', async () => {
    const socket = await open({ transferMs: 400 })
    socket.write(ENVELOPE)
    const timer = setInterval(() => socket.writable && socket.write('x'), 50)
    const said = await heardFrom(socket)
    clearInterval(timer)
    expect(said).toContain('421 4.4.2 Transfer too slow')
    expect(taken).toEqual([])
  })

  it('rejects a mail that is slightly too large, and accepts the next', async () => {
    const socket = await open({ maxMailBytes: 100_000 })
    socket.write(`${ENVELOPE}${'x'.repeat(150_000)}\r\n.\r\n${ENVELOPE}short\r\n.\r\nQUIT\r\n`)
    const said = await heardFrom(socket)
    expect(said).toMatch(/552 5\.3\.4 .*\r\n[^]*250 2\.0\.0 Accepted/)
    expect(taken).toEqual([7])
  })

  it('looks up few recipients of a mail, and those of the next one again', async () => {
    const socket = await open({})
    const many = Array.from(
      { length: 200 },
      (_, n) => `RCPT TO:<b@reports.test>\r\nRCPT TO:<nobody${n}@reports.test>\r\n`,
    )
    socket.write(`EHLO x\r\nMAIL FROM:<a@receiver.test>\r\n${many.join('')}DATA\r\nfirst\r\n.\r\n`)
    socket.write(`${ENVELOPE}second\r\n.\r\nQUIT\r\n`)
    let turns = 0
    const count = () => {
      turns++
      turn = setImmediate(count)
    }
    let turn = setImmediate(count)
    const said = await heardFrom(socket)
    clearImmediate(turn)
    // The requests of others are read in between.
    expect(turns).toBeGreaterThan(400)
    expect(said.match(/^250 2\.0\.0 Accepted/gm)).toHaveLength(2)
    expect(said.match(/^452 4\.5\.3 Too many recipients/gm)).toHaveLength(181)
    expect(taken).toEqual([7, 8])
    expect(lookedUp).toHaveLength(21)
    expect(lookedUp.filter((address) => address === 'b@reports.test')).toHaveLength(2)
  })

  it('closes idle connections when it stops', async () => {
    const socket = await open({ closingMs: 60_000 })
    const silent = connect(server?.port ?? 0, '127.0.0.1').on('error', () => {})
    await once(silent, 'connect')
    const half = connect({ port: server?.port ?? 0, host: '127.0.0.1', allowHalfOpen: true }).on(
      'error',
      () => {},
    )
    await once(half, 'data')
    const said = heardFrom(socket)
    const begun = performance.now()
    await server?.close()
    expect(performance.now() - begun).toBeLessThan(10_000)
    expect(await said).toContain('421 4.3.2 The service is stopping')
    silent.destroy()
    half.destroy()
  })

  it('accepts a mail in progress when it stops', async () => {
    const socket = await open({ closingMs: 60_000 })
    const port = server?.port ?? 0
    socket.write(ENVELOPE)
    await once(socket, 'data')
    const said = heardFrom(socket)
    const closed = server?.close()
    await expect.poll(() => isRefused(port)).toBe(true)
    socket.write('a mail\r\n.\r\n')
    const begun = performance.now()
    await closed
    expect(performance.now() - begun).toBeLessThan(10_000)
    expect(await said).toContain('250 2.0.0 Accepted')
    expect(taken).toEqual([8])
  })
})

/** Whether the server takes no connections any more. */
async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}
