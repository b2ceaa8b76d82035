import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as consume from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDovecot } from '../servers/dovecot.ts'
import { startImapAccountFake } from '../servers/imap-account-fake.ts'
import { accountOn, inside } from './mailbox.ts'

/** Set for the long run. */
const COUNT = process.env['PORTREEVE_HARD'] ? 200_000 : 20_000

describe('a folder of very many messages (44)', () => {
  it(
    `of ${COUNT} needs little more memory than one of 2,000, and shows how far it is`,
    { timeout: COUNT * 5 },
    async () => {
      const [few, many] = [await memoryFor(2_000), await memoryFor(COUNT)]
      // The number of progress reports depends on the machine; that there are some does not.
      expect(many.reports.some((done) => done > 0 && done < COUNT)).toBe(true)
      expect(many.reports.at(-1)).toBe(COUNT)
      expect(many.copied).toBe(COUNT)
      // Half a kilobyte per message, and room for the garbage collector.
      expect(many.megabytes - few.megabytes).toBeLessThan(50 + COUNT / 2_000)
    },
  )
})

/** Copies such a folder in a separate process. */
async function memoryFor(
  count: number,
): Promise<{ megabytes: number; reports: number[]; copied: number }> {
  const body = (uid: number) =>
    Buffer.from(`Subject: ${uid}\r\nMessage-ID: <${uid}@many.test>\r\n\r\n${'x'.repeat(300)}\r\n`)
  const [source, server] = await Promise.all([
    startImapAccountFake({ INBOX: { count, body } }),
    startDovecot(),
  ])
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-large-'))
  onTestFinished(async () => {
    await Promise.all([source.close(), server.stop()])
    rmSync(folder, { recursive: true })
  })
  await server.addUser('large', 'secret')
  const args = [
    join(import.meta.dirname, 'child.ts'),
    String(source.port),
    String(server.port),
    'large',
    join(folder, 'journal'),
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [lines] = await Promise.all([consume.text(child.stdout), once(child, 'exit')])
  const numbers = lines.trim().split('\n').map(Number)
  const { exists } = await inside(accountOn(server.port, 'large'), async ({ wire }) => {
    let found = 0
    await wire.run(['EXAMINE INBOX'], {
      data: (values) => values[1] === 'EXISTS' && Boolean((found = Number(values[0]))),
    })
    return { exists: found }
  })
  return { megabytes: numbers.at(-1) ?? Infinity, reports: numbers.slice(0, -1), copied: exists }
}
