import { createHash } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAppender } from '../../../src/net/imap/append/append.ts'
import { fetchBodies } from '../../../src/net/imap/fetch/fetch-bodies.ts'
import { examine, select } from '../../../src/net/imap/folders/mailbox.ts'
import type { Wire } from '../../../src/net/imap/connection/wire.ts'
import { startDovecot } from '../../servers/dovecot.ts'
import { mail, signInTo } from './account.ts'

const LINE = Buffer.from(`${'0123456789abcdef'.repeat(4)}\r\n`)
const BLOCK = Buffer.concat(Array.from({ length: 1000 }, () => LINE))
const HEAD = mail('huge', '')
const BLOCKS = Math.ceil(150_000_000 / BLOCK.length)
const SIZE = HEAD.length + BLOCKS * BLOCK.length

async function* hugeMail(): AsyncGenerator<Buffer> {
  yield HEAD
  for (let at = 0; at < BLOCKS; at++) yield BLOCK
}

/** Bytes of buffers that are still referenced. */
function liveBuffers(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().arrayBuffers
}

async function openWire(
  port: number,
  user: string,
): Promise<{ wire: Wire; permanentFlags: string[] | null }> {
  const { wire } = await signInTo(port, { user })
  return { wire, permanentFlags: (await select(wire, 'INBOX')).permanentFlags }
}

describe('a message of 150 MB', () => {
  it(
    'streams from one server to another in a few megabytes of memory (case 19)',
    { timeout: 180_000 },
    async () => {
      const server = await startDovecot()
      onTestFinished(() => server.stop())
      for (const user of ['alice', 'bob']) await server.addUser(user, 'secret')
      const [from, to] = await Promise.all([
        openWire(server.port, 'alice'),
        openWire(server.port, 'bob'),
      ])
      const filling = createAppender(from.wire, 'INBOX', { permanentFlags: from.permanentFlags })
      const filled = await filling.submit([
        { size: SIZE, body: hugeMail(), flags: [], internalDate: null },
      ])
      expect((await filled.outcomes)[0]?.state).toBe('stored')
      await examine(from.wire, 'INBOX')

      let peak = 0
      let measures = 0
      const before = liveBuffers()
      const measure = () => {
        measures++
        peak = Math.max(peak, liveBuffers() - before)
      }
      const appender = createAppender(to.wire, 'INBOX', { permanentFlags: to.permanentFlags })
      for await (const row of fetchBodies(from.wire, [{ uid: 1, size: SIZE }])) {
        if (row.state !== 'here' || Buffer.isBuffer(row.body))
          throw new Error('the message is gone, or was not streamed')
        const submitted = await appender.submit([
          { size: row.size, body: measured(row.body, measure), flags: [], internalDate: null },
        ])
        measure()
        expect((await submitted.outcomes)[0]?.state).toBe('stored')
      }
      // Not the peak, because buffers of an earlier test may be freed meanwhile.
      expect(measures).toBeGreaterThan(1)
      expect(peak).toBeLessThan(8 * 1024 * 1024)

      await examine(to.wire, 'INBOX')
      expect(await digestOf(to.wire)).toBe(await digest(hugeMail()))
      await Promise.all([from.wire.logout(), to.wire.logout()])
    },
  )
})

/**
 * Measures at the first bytes of a message and after every four megabytes: to collect garbage on a
 * clock takes all the time of a processor in a process with a large heap.
 */
async function* measured(chunks: AsyncIterable<Buffer>, measure: () => void) {
  let left = 0
  for await (const chunk of chunks) {
    if (left <= 0) {
      measure()
      left = 4 * 1024 * 1024
    }
    left -= chunk.length
    yield chunk
  }
}

async function digestOf(wire: Wire): Promise<string> {
  for await (const row of fetchBodies(wire, [{ uid: 1, size: SIZE }])) {
    if (row.state === 'here' && !Buffer.isBuffer(row.body)) return await digest(row.body)
  }
  throw new Error('the copy is not there')
}

async function digest(chunks: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}
