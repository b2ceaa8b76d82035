// Compares our migration with mbsync, imapsync if installed, and a bare copy without a journal.
// node bench/migration/run.ts [messages] [round trip in ms]
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFileJournal } from '../../src/migration/engine/journal/file-journal.ts'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { signIn } from '../../src/net/imap/connection/imap-session.ts'
import { startDovecot } from '../../test/servers/dovecot.ts'
import { startProxy } from '../../test/servers/proxy.ts'
import { bareCopy, mbsync } from './bare.ts'
import { fillAccount } from './corpus.ts'
import { hasImapsync, imapsync } from './imapsync.ts'
import { memoryOfFour } from './memory.ts'
import { accountOn, ours } from './ours.ts'

/** Measures the figures of the targets, and the memory. */
export async function run(): Promise<string> {
  const compared = [await compare(10_000, 0), await compare(1_000, 0), await compare(1_000, 30)]
  return [...compared, await memoryOfFour(4_000)].join('\n\n')
}

/** Maximum number of messages for imapsync, which is slow. */
const LONGEST = 1_000

type Column = { label: string; seconds: number }

async function compare(messages: number, roundTrip: number): Promise<string> {
  const [source, destination] = await Promise.all([startDovecot(), startDovecot()])
  const proxies = await Promise.all(
    [source, destination].map(({ port }) => startProxy(port, { roundTrip })),
  )
  const [near = 0, far = 0] =
    roundTrip > 0 ? proxies.map(({ port }) => port) : [source.port, destination.port]
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-bench-'))
  await source.addUser('source', 'secret')
  try {
    const filling = await signIn(accountOn(source.port, 'source'))
    const { bytes } = await fillAccount(filling, messages)
    await filling.wire.logout()
    const timed = await timeAll(near, far, folder, messages, (user) =>
      destination.addUser(user, 'secret'),
    )
    const head = `${messages} messages, ${(bytes / 1e6).toFixed(0)} MB, round trip ${roundTrip} ms`
    return [head, ...timed.map((column) => lineOf(column, messages, bytes))].join('\n')
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.close()))
    await Promise.all([source.stop(), destination.stop()])
    rmSync(folder, { recursive: true })
  }
}

/** Ours and the bare copy take turns three times; the median counts. */
async function timeAll(
  near: number,
  far: number,
  folder: string,
  messages: number,
  addUser: (user: string) => Promise<void>,
): Promise<Column[]> {
  let users = 0
  const newUser = async () => {
    const user = `u${(users += 1)}`
    await addUser(user)
    return user
  }
  const from = accountOn(near, 'source')
  const state = join(folder, 'mbsync')
  mkdirSync(state)
  const one = await newUser()
  const columns = [
    await time('mbsync', () => mbsync(near, far, one, state)),
    await time('mbsync again', () => mbsync(near, far, one, state)),
  ]
  const [bare, whole]: number[][] = [[], []]
  for (let turn = 0; turn < 3; turn++) {
    const [two, three] = [await newUser(), await newUser()]
    bare?.push((await time('', () => bareCopy(near, far, two, { connections: 4 }))).seconds)
    whole?.push(
      (await time('', () => ours(from, accountOn(far, three), createMemoryJournal()))).seconds,
    )
  }
  columns.push({ label: 'bare MULTIAPPEND copy, 4 connections', seconds: medianOf(bare) })
  columns.push({ label: 'portreeve', seconds: medianOf(whole) })
  const to = accountOn(far, await newUser())
  const journal = openFileJournal(join(folder, 'journal'))
  columns.push(await time('portreeve, journal on disk', () => ours(from, to, journal)))
  columns.push(
    await time('portreeve again, journal known', () =>
      ours(from, to, journal, { withNewMail: true }),
    ),
  )
  const again = () => ours(from, to, createMemoryJournal(), { deduplicate: true })
  columns.push(await time('portreeve again, deduplicate', again))
  journal.close()
  if (!hasImapsync()) return columns
  const first = await newUser()
  const sync = (user: string) => imapsync(near, far, user, folder)
  if (messages <= LONGEST) columns.push(await time('imapsync', () => sync(first)))
  columns.push(await time('imapsync again', () => sync(to.user)))
  return columns
}

async function time(label: string, work: () => Promise<unknown>): Promise<Column> {
  const began = performance.now()
  await work()
  return { label, seconds: (performance.now() - began) / 1000 }
}

function medianOf(numbers: number[] = []): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

function lineOf({ label, seconds }: Column, messages: number, bytes: number): string {
  const rate = `${(messages / seconds).toFixed(0)} messages/s, ${(bytes / 1e6 / seconds).toFixed(1)} MB/s`
  return `${label.padEnd(38)} ${seconds.toFixed(2).padStart(7)} s  ${rate}`
}

if (import.meta.main) {
  const [messages, roundTrip = '0'] = process.argv.slice(2)
  console.log(
    messages === undefined ? await run() : await compare(Number(messages), Number(roundTrip)),
  )
}
