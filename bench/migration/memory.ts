// What four migrations at once need, one of them with a message of 150 MB: node bench/migration/memory.ts
import { spawn } from 'node:child_process'
import * as consume from 'node:stream/consumers'
import { createMemoryJournal } from '../../src/migration/journal.ts'
import { createAppender } from '../../src/net/imap/append.ts'
import { select } from '../../src/net/imap/mailbox.ts'
import { signIn, type Session } from '../../src/net/imap/session.ts'
import { startDovecot } from '../../test/servers/dovecot.ts'
import { fillAccount } from './corpus.ts'
import { accountOn, ours } from './ours.ts'

const LARGE = 150 * 1024 * 1024

/** The worker: four at once, then the most memory it ever had. */
async function four(source: number, destination: number): Promise<void> {
  const users = ['a', 'b', 'c', 'd']
  await Promise.all(
    users.map((user) => ours(accountOn(source, 'source'), accountOn(destination, user), createMemoryJournal())),
  )
  console.log(`four migrations at once: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB resident at most`)
}

/** One line. The migrations run in a process of their own. */
export async function memoryOfFour(messages: number): Promise<string> {
  const [source, destination] = await Promise.all([startDovecot(), startDovecot()])
  try {
    for (const user of ['a', 'b', 'c', 'd']) await destination.addUser(user, 'secret')
    await source.addUser('source', 'secret')
    const filling = await signIn(accountOn(source.port, 'source'))
    await fillAccount(filling, messages)
    await addLarge(filling)
    await filling.wire.logout()
    const args = [import.meta.filename, 'four', String(source.port), String(destination.port)]
    const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    return (await consume.text(child.stdout)).trim()
  } finally {
    await Promise.all([source.stop(), destination.stop()])
  }
}

async function addLarge({ wire }: Session): Promise<void> {
  const { permanentFlags } = await select(wire, 'INBOX')
  const appender = createAppender(wire, 'INBOX', { permanentFlags })
  const body = large()
  const message = { size: LARGE, body, flags: [], internalDate: null }
  await (
    await appender.submit([message])
  ).outcomes
}

async function* large(): AsyncGenerator<Buffer> {
  yield Buffer.from('Subject: large\r\nMessage-ID: <large@example.org>\r\n\r\n'.padEnd(1024, '.'))
  const chunk = Buffer.from(`${'x'.repeat(62)}\r\n`.repeat(1024))
  for (let left = LARGE - 1024; left > 0; left -= chunk.length) yield chunk.subarray(0, left)
}

if (import.meta.main) {
  const [mode = '4000', source, destination] = process.argv.slice(2)
  if (mode === 'four') await four(Number(source), Number(destination))
  else console.log(await memoryOfFour(Number(mode)))
}
