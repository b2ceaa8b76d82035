// The lower bound of every migration: FETCH streamed to APPEND without a journal, beside mbsync.
// node bench/migration/bare.ts [messages] [round trip in ms]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAppender, type AppendMessage } from '../../src/net/imap/append/append.ts'
import { groupIntoBatches } from '../../src/net/imap/append/message-batches.ts'
import { createFolder } from '../../src/net/imap/folders/create-folder.ts'
import { fetchBodies } from '../../src/net/imap/fetch/fetch-bodies.ts'
import { fetchMetadata, type Metadata } from '../../src/net/imap/fetch/fetch-metadata.ts'
import { listFolders, type Folder } from '../../src/net/imap/folders/list-folders.ts'
import { examine, select } from '../../src/net/imap/folders/mailbox.ts'
import { signIn, type Session } from '../../src/net/imap/connection/imap-session.ts'
import { librariesOf, unpacked } from '../../test/servers/debian-package.ts'
import { startDovecot } from '../../test/servers/dovecot.ts'
import { startProxy } from '../../test/servers/proxy.ts'
import { fillAccount } from './corpus.ts'

export type BareOptions = {
  connections: number
  singly?: boolean
  shapes?: Set<string>
  /** The user at the source, `source` by default. */
  from?: string
}

/** mbsync is ended after this time. */
const MAX_PEER_MS = 8 * 60_000

/** Messages of one folder that one pair of connections takes at a time. */
const SLICE = 500
const BATCH = { messages: 100, bytes: 4 * 1024 * 1024 }

type Slice = { folder: Folder; rows: Metadata[] }

/** Copies all folders of one account into another, over pairs of connections. */
export async function bareCopy(
  source: number,
  destination: number,
  user: string,
  options: BareOptions,
): Promise<number> {
  const pairs = await Promise.all(
    Array.from({ length: options.connections }, async () => ({
      from: await bareSignIn(source, options.from ?? 'source'),
      to: await bareSignIn(destination, user),
    })),
  )
  const [first] = pairs
  if (!first) throw new Error('no connections')
  const folders = (await listFolders(first.from)).folders.filter(({ isSelectable }) => isSelectable)
  const scanned = await Promise.all(pairs.map(({ from, to }) => scanFolders(from, to, folders)))
  const slices = scanned.flat().toSorted((a, b) => b.rows.length - a.rows.length)
  const shapes = new Set<string>()
  const copied = await Promise.all(
    pairs.map(({ from, to }) => copySlices(from, to, slices, { ...options, shapes })),
  )
  await Promise.all(pairs.flatMap(({ from, to }) => [from.wire.logout(), to.wire.logout()]))
  return copied.reduce((sum, count) => sum + count, 0)
}

async function scanFolders(from: Session, to: Session, folders: Folder[]): Promise<Slice[]> {
  const slices: Slice[] = []
  for (let folder = folders.shift(); folder; folder = folders.shift()) {
    const name = folder.pathAsListed
    const [{ uidNext }] = await Promise.all([examine(from.wire, name), createFolder(to.wire, name)])
    const rows: Metadata[] = []
    for await (const row of fetchMetadata(from.wire, 1, (uidNext ?? 1) - 1)) rows.push(row)
    for (let at = 0; at < rows.length; at += SLICE)
      slices.push({ folder, rows: rows.slice(at, at + SLICE) })
  }
  return slices
}

async function copySlices(
  from: Session,
  to: Session,
  slices: Slice[],
  options: BareOptions,
): Promise<number> {
  let copied = 0
  for (let slice = slices.shift(); slice; slice = slices.shift()) {
    const name = slice.folder.pathAsListed
    const [{ permanentFlags }] = await Promise.all([
      select(to.wire, name),
      examine(from.wire, name),
    ])
    const appender = createAppender(to.wire, name, {
      permanentFlags,
      singly: options.singly,
      shapes: options.shapes,
    })
    const pending: Promise<number>[] = []
    for await (const batch of groupIntoBatches(outgoing(from, slice.rows), BATCH)) {
      const { outcomes } = await appender.submit(batch)
      pending.push(outcomes.then((all) => all.filter(({ state }) => state === 'stored').length))
    }
    for (const stored of pending) copied += await stored
  }
  return copied
}

async function* outgoing({ wire }: Session, rows: Metadata[]): AsyncGenerator<AppendMessage> {
  const byUid = new Map(rows.map((row) => [row.uid, row]))
  for await (const fetched of fetchBodies(wire, rows)) {
    const row = byUid.get(fetched.uid)
    if (fetched.state === 'here' && row)
      yield { ...fetched, flags: row.flags, internalDate: row.internalDate }
  }
}

async function bareSignIn(port: number, user: string): Promise<Session> {
  const target = { host: 'localhost', servername: 'localhost', addresses: ['127.0.0.1'] }
  return signIn({ target, port, secure: false, user, password: 'secret' })
}

function mbsyncStore(name: string, port: number, login: string): string {
  return `IMAPStore ${name}\nHost 127.0.0.1\nPort ${port}\nUser ${login}\nPass secret\nSSLType None\nAuthMechs LOGIN\n\n`
}

/** Runs Debian’s mbsync with arrival dates, as for a migration. */
export async function mbsync(
  source: number,
  destination: number,
  user: string,
  folder: string = mkdtempSync(join(tmpdir(), 'portreeve-mbsync-')),
): Promise<void> {
  const root = unpacked('isync')
  const channel = `Channel all\nFar :far:\nNear :near:\nPatterns *\nSync Pull\nCreate Near\nCopyArrivalDate yes\nSyncState ${folder}/\n`
  writeFileSync(
    join(folder, 'rc'),
    mbsyncStore('far', source, 'source') + mbsyncStore('near', destination, user) + channel,
  )
  const env = { LD_LIBRARY_PATH: librariesOf(root), HOME: folder }
  const run = spawn(join(root, 'usr/bin/mbsync'), ['-q', '-c', join(folder, 'rc'), 'all'], {
    env,
    stdio: ['ignore', 'ignore', 'ignore'],
    timeout: MAX_PEER_MS,
  })
  const [code] = (await once(run, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`mbsync ended with ${code}`)
}

async function main(messages: number, roundTrip: number): Promise<void> {
  const source = await startDovecot()
  const destination = await startDovecot()
  const near = await startProxy(source.port, { roundTrip })
  const far = await startProxy(destination.port, { roundTrip })
  const ports =
    roundTrip > 0 ? ([near.port, far.port] as const) : ([source.port, destination.port] as const)
  await source.addUser('source', 'secret')
  try {
    const filling = await bareSignIn(source.port, 'source')
    const corpus = await fillAccount(filling, messages)
    await filling.wire.logout()
    console.log(
      `${messages} messages, ${(corpus.bytes / 1e6).toFixed(0)} MB, round trip ${roundTrip} ms`,
    )
    let users = 0
    const time = async (label: string, run: (user: string) => Promise<unknown>) => {
      const user = `u${(users += 1)}`
      await destination.addUser(user, 'secret')
      const started = performance.now()
      await run(user)
      const seconds = (performance.now() - started) / 1000
      const counted = await countOf(destination.port, user)
      const rate = `${(messages / seconds).toFixed(0)} messages/s, ${(corpus.bytes / 1e6 / seconds).toFixed(1)} MB/s`
      console.log(
        `${label.padEnd(34)} ${seconds.toFixed(2).padStart(7)} s  ${rate}${counted === messages ? '' : `  BUT ${counted} THERE`}`,
      )
    }
    await time('mbsync', (user) => mbsync(...ports, user))
    for (const connections of [1, 4]) {
      await time(`bare, pipelined APPEND, ${connections} conn.`, (user) =>
        bareCopy(...ports, user, { connections, singly: true }),
      )
      await time(`bare, MULTIAPPEND, ${connections} conn.`, (user) =>
        bareCopy(...ports, user, { connections }),
      )
    }
    console.log(`resident: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB at most`)
  } finally {
    await Promise.all([near.close(), far.close()])
    await Promise.all([source.stop(), destination.stop()])
  }
}

export async function countOf(port: number, user: string): Promise<number> {
  const session = await bareSignIn(port, user)
  const { folders } = await listFolders(session)
  await session.wire.logout()
  return folders.reduce((sum, { messages }) => sum + (messages ?? 0), 0)
}

if (import.meta.main) await main(Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 0))
