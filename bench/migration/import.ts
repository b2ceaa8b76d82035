// Imports an mbox file into Dovecot, in turn with a bare APPEND of the same messages from memory.
// node bench/migration/import.ts [megabytes] [rounds] [--apart]; with PORTREEVE, the program is the
// installed package in that folder instead of the sources.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAppender } from '../../src/net/imap/append/append.ts'
import { createFolder } from '../../src/net/imap/folders/create-folder.ts'
import { select } from '../../src/net/imap/folders/mailbox.ts'
import { signIn } from '../../src/net/imap/connection/imap-session.ts'
import { startDovecot } from '../../test/servers/dovecot.ts'
import { memoryMb, processUsage } from '../process-usage.ts'

const FOLDER = process.env['PORTREEVE'] ?? join(import.meta.dirname, '..', '..')
const PROGRAM = join(FOLDER, 'bin', 'portreeve.js')
const CONNECTIONS = 4
const [SERVER_CORE, CLIENT_CORE, BOTH_CORES] = ['1', '0', '0,1']
const BATCH_MESSAGES = 40
const LINE = 'A line of text that is about as long as the lines of mail are, or base64.\n'

/** Messages of 1 to 118 kB, 60 kB on average. */
function messageOf(number: number): string {
  const lines = 1 + ((number * 7_919) % 1_600)
  return `From: a@example.org\nTo: b@example.org\nMessage-ID: <m${number}@example.org>\nDate: Mon, 1 Jul 2024 08:09:10 +0200\nSubject: ${number}\n\n${LINE.repeat(lines)}`
}

function writeMbox(path: string, bytes: number): number {
  const fd = openSync(path, 'w')
  let [written, count] = [0, 0]
  for (; written < bytes; count++) {
    const message = `From a@example.org Mon Jul  1 06:09:10 2024\n${messageOf(count)}\n`
    written += writeSync(fd, message)
  }
  closeSync(fd)
  return count
}

/** Appends the messages over four connections, without reading or verifying anything. */
async function bareAppend(port: number, user: string, count: number): Promise<number> {
  const target = { host: 'localhost', servername: 'localhost', addresses: ['127.0.0.1'] }
  const began = performance.now()
  let next = 0
  const work = async () => {
    const { wire } = await signIn({ target, port, secure: false, user, password: 'secret' })
    await createFolder(wire, 'Mail')
    const { permanentFlags } = await select(wire, 'Mail')
    const appender = createAppender(wire, 'Mail', { permanentFlags })
    const pending = []
    while (next < count) {
      const first = next
      next = Math.min(count, next + BATCH_MESSAGES)
      const batch = Array.from({ length: next - first }, (_, index) => {
        const body = BODIES[(first + index) % BODIES.length] as Buffer
        return { size: body.length, body, flags: [], internalDate: ' 1-Jul-2024 06:09:10 +0000' }
      })
      pending.push((await appender.submit(batch)).outcomes)
    }
    await Promise.all(pending)
    await wire.logout()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  return (performance.now() - began) / 1_000
}

const BODIES = Array.from({ length: 1_600 }, (_, number) =>
  Buffer.from(messageOf(number).replaceAll('\n', '\r\n')),
)

type Import = { file: string; port: number; user: string; state: string }

async function importFile({ file, port, user, state }: Import) {
  const began = performance.now()
  const child = spawn(
    process.execPath,
    [PROGRAM, 'import', file, '--destination', `imap://${user}@127.0.0.1:${port}`, '--json'],
    {
      env: { ...process.env, DATA_DIR: state, PORTREEVE_DESTINATION_PASSWORD: 'secret' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let [peak, processor, out] = [0, 0, '']
  child.stdout.on('data', (chunk) => (out += chunk))
  const timer = setInterval(() => {
    peak = Math.max(
      peak,
      whileAlive(() => memoryMb(child.pid ?? 0, 'VmHWM')),
    )
    processor = Math.max(
      processor,
      whileAlive(() => processUsage(child.pid ?? 0).seconds),
    )
  }, 100)
  await once(child, 'exit')
  clearInterval(timer)
  const { status } = JSON.parse(out) as { status: string }
  return { seconds: (performance.now() - began) / 1_000, processor, peak, status }
}

/** 0 once the process has ended. */
function whileAlive(read: () => number): number {
  try {
    return read() || 0
  } catch {
    return 0
  }
}

/** @param isApart whether server and client have a core each, as on two machines */
export async function run(megabytes = 2_048, rounds = 1, isApart = false): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-import-'))
  if (isApart) runOn(SERVER_CORE)
  const server = await startDovecot()
  if (isApart) runOn(CLIENT_CORE)
  const rows: string[] = []
  try {
    const file = join(folder, 'Mail.mbox')
    const count = writeMbox(file, megabytes * 1_024 * 1_024)
    for (let round = 1; round <= rounds; round++) {
      const [bareUser, user, state] = [`bare${round}`, `imported${round}`, join(folder, `${round}`)]
      for (const name of [bareUser, user]) await server.addUser(name, 'secret')
      writeAll()
      const bare = await bareAppend(server.port, bareUser, count)
      writeAll()
      const imported = await importFile({ file, port: server.port, user, state })
      rows.push(
        `| ${round} | ${bare.toFixed(2)} | ${imported.seconds.toFixed(2)} | ${(bare / imported.seconds).toFixed(2)} | ${imported.processor.toFixed(1)} | ${imported.peak.toFixed(0)} | ${imported.status} |`,
      )
    }
    return [
      `${count} messages, ${megabytes} MB`,
      '',
      '| round | bare s | import s | of bare | processor s | resident at most, MB | status |',
      '|---|---|---|---|---|---|---|',
      ...rows,
    ].join('\n')
  } finally {
    if (isApart) runOn(BOTH_CORES)
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

/** Moves this process to cores, and those that it starts from now on. */
function runOn(cores: string): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, `${process.pid}`])
}

/** Empties the write cache, so that a contender does not wait for what the one before wrote. */
function writeAll(): void {
  execFileSync('sync')
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { apart: { type: 'boolean', default: false } },
  })
  const [megabytes, rounds] = positionals.map(Number)
  console.log(await run(megabytes, rounds, values.apart))
}
