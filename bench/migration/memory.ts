// Measures the memory of four migrations at once, each with a message of 150 MB: node
// bench/migration/memory.ts [messages]
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as consume from 'node:stream/consumers'
import { createAppender } from '../../src/net/imap/append/append.ts'
import { select } from '../../src/net/imap/folders/mailbox.ts'
import { signIn, type Session } from '../../src/net/imap/connection/imap-session.ts'
import { startDovecot } from '../../test/servers/dovecot.ts'
import { fillAccount } from './corpus.ts'
import { accountOn } from './ours.ts'

const LARGE = 150 * 1024 * 1024
const ROOT = join(import.meta.dirname, '../..')

/** One line. The migrations run in a process of their own, as JavaScript, as they are installed. */
export async function memoryOfFour(messages: number): Promise<string> {
  const [source, destination] = await Promise.all([startDovecot(), startDovecot()])
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-bench-'))
  try {
    for (const user of ['a', 'b', 'c', 'd']) await destination.addUser(user, 'secret')
    await source.addUser('source', 'secret')
    const filling = await signIn(accountOn(source.port, 'source'))
    await fillAccount(filling, messages)
    await addLarge(filling)
    await filling.wire.logout()
    const args = [builtIn(folder), String(source.port), String(destination.port)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    return (await consume.text(child.stdout)).trim()
  } finally {
    await Promise.all([source.stop(), destination.stop()])
    rmSync(folder, { recursive: true })
  }
}

/** The built program: sources that Node has to strip take some 30 MB more. */
function builtIn(folder: string): string {
  const language = ['--module', 'nodenext', '--target', 'esnext', '--noCheck']
  const places = ['--rewriteRelativeImportExtensions', '--rootDir', ROOT, '--outDir', folder]
  const file = 'bench/migration/four.ts'
  execFileSync(
    join(ROOT, 'node_modules/.bin/tsc'),
    ['--ignoreConfig', ...language, ...places, file],
    { cwd: ROOT },
  )
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'bench/migration/four.js')
}

async function addLarge({ wire }: Session): Promise<void> {
  const { permanentFlags } = await select(wire, 'INBOX')
  const appender = createAppender(wire, 'INBOX', { permanentFlags })
  const message = { size: LARGE, body: large(), flags: [], internalDate: null }
  await (
    await appender.submit([message])
  ).outcomes
}

async function* large(): AsyncGenerator<Buffer> {
  yield Buffer.from('Subject: large\r\nMessage-ID: <large@example.org>\r\n\r\n'.padEnd(1024, '.'))
  const chunk = Buffer.from(`${'x'.repeat(62)}\r\n`.repeat(1024))
  for (let left = LARGE - 1024; left > 0; left -= chunk.length) yield chunk.subarray(0, left)
}

if (import.meta.main) console.log(await memoryOfFour(Number(process.argv[2] ?? 4_000)))
