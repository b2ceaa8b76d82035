import { createHash } from 'node:crypto'
import { createAppender } from '../../src/net/imap/append/append.ts'
import { createFolder, subscribe } from '../../src/net/imap/folders/create-folder.ts'
import { fetchBodies } from '../../src/net/imap/fetch/fetch-bodies.ts'
import { fetchMetadata } from '../../src/net/imap/fetch/fetch-metadata.ts'
import { listFolders } from '../../src/net/imap/folders/list-folders.ts'
import { select } from '../../src/net/imap/folders/mailbox.ts'
import { encodeMailbox } from '../../src/net/imap/folders/mailbox-name.ts'
import { signIn, type Session } from '../../src/net/imap/connection/imap-session.ts'
import type { SignIn } from '../../src/net/imap/connection/imap-sign-in.ts'

/** A message with the parts that a test needs; the others have defaults. */
export type Letter = { body?: string | Buffer; flags?: string[]; date?: string }

/** A message of a folder. */
export type Stored = {
  uid: number
  hash: string
  flags: string[]
  date: string | null
  size: number
}

export function accountOn(port: number, user = 'alice', over: Partial<SignIn> = {}): SignIn {
  const target = { host: 'localhost', servername: 'localhost', addresses: ['127.0.0.1'] }
  return { target, port, secure: false, user, password: 'secret', ...over }
}

let count = 0

/** Creates a unique message. */
export function mail(bytes = 200, headers = ''): Buffer {
  count += 1
  const head = `From: a@example.org\r\nTo: b@example.org\r\nMessage-ID: <m${count}@example.org>\r\nDate: Mon, 1 Jul 2024 08:09:10 +0200\r\n`
  const line = `Line of the mail number ${count}, as long as lines are in mails.\r\n`
  return Buffer.from(
    `${head}${headers}Subject: mail ${count}\r\n\r\n${line.repeat(Math.ceil(bytes / line.length))}`,
  )
}

/** Runs `work` in an account, then signs out. */
export async function inside<T>(
  account: SignIn,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await signIn(account)
  try {
    return await work(session)
  } finally {
    await session.wire.logout()
  }
}

/** Puts messages into folders, by path, and subscribes to them. */
export async function fill(account: SignIn, folders: Record<string, Letter[]>): Promise<void> {
  await inside(account, async ({ wire }) => {
    for (const [path, letters] of Object.entries(folders)) {
      const name = encodeMailbox(path)
      if (path !== 'INBOX') await createFolder(wire, name)
      await subscribe(wire, name)
      const { permanentFlags } = await select(wire, name)
      const appender = createAppender(wire, name, { permanentFlags })
      const outgoing = letters.map(({ body = mail(), flags = [], date = null }) => {
        const bytes = Buffer.from(body)
        return { size: bytes.length, body: bytes, flags, internalDate: date }
      })
      const outcomes = await (await appender.submit(outgoing)).outcomes
      const refused = outcomes.find(({ state }) => state !== 'stored')
      if (refused) throw new Error(`could not fill ${path}: ${JSON.stringify(refused)}`)
    }
  })
}

/** Reads everything in an account: folders by path, messages by UID. */
export async function read(account: SignIn): Promise<Record<string, Stored[]>> {
  return inside(account, async (session) => {
    const all: Record<string, Stored[]> = {}
    const { folders } = await listFolders(session)
    for (const { path, pathAsListed } of folders.filter(({ isSelectable }) => isSelectable)) {
      await session.wire.run(['EXAMINE ', `"${pathAsListed.replace(/["\\]/g, '\\$&')}"`])
      const rows = await Array.fromAsync(fetchMetadata(session.wire, 1, 2 ** 32 - 1))
      const stored = new Map(rows.map((row) => [row.uid, row]))
      all[path] = []
      for await (const fetched of fetchBodies(session.wire, rows)) {
        if (fetched.state !== 'here') continue
        const hash = createHash('sha256')
        for await (const chunk of Buffer.isBuffer(fetched.body) ? [fetched.body] : fetched.body)
          hash.update(chunk)
        const row = stored.get(fetched.uid)
        const flags = (row?.flags ?? []).filter((flag) => flag !== '\\Recent').toSorted()
        const date = row?.internalDate ?? null
        all[path].push({
          uid: fetched.uid,
          hash: hash.digest('hex'),
          flags,
          date,
          size: fetched.size,
        })
      }
      all[path].sort((a, b) => a.uid - b.uid)
    }
    return all
  })
}

/** The properties that must be equal on both sides, sorted. */
export function contents(stored: readonly Stored[] = []): string[] {
  return stored
    .map(({ hash, flags, date }) => `${hash} ${flags.join(' ')} ${momentOf(date)}`)
    .toSorted()
}

/**
 * Parses ` 1-Jul-2024 08:09:10 +0200` to milliseconds, because servers use different time zones.
 */
export function momentOf(date: string | null): number {
  return Date.parse((date ?? '').trim().replace(/^(\d+)-(\w+)-/, '$1 $2 '))
}
