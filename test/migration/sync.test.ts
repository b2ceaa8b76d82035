import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { startCyrus } from '../servers/cyrus.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, contents, fill, inside, mail, read } from './mailbox.ts'
import { migrate } from './run.ts'

/** Without modification sequences, object ids and moves. */
const PLAIN = 'IMAP4rev1 UIDPLUS LITERAL+ NAMESPACE ESEARCH AUTH=PLAIN'

let servers: Record<'dovecot' | 'plain' | 'cyrus', MailServer>
let users = 0

beforeAll(async () => {
  const [dovecot, plain, cyrus] = await Promise.all([
    startDovecot(),
    startDovecot({ layout: 'maildir', capability: PLAIN }),
    startCyrus({ altNamespace: true, separator: '/' }),
  ])
  servers = { dovecot, plain, cyrus }
})
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.stop()))
})

type ServerName = keyof typeof servers
type Mailbox = { port: number; user: string }

async function mailboxOn(name: ServerName): Promise<Mailbox> {
  const user = `user${(users += 1)}`
  await servers[name].addUser(user, 'secret')
  return { port: servers[name].port, user }
}

async function run({ port, user }: Mailbox, ...commands: string[]): Promise<void> {
  await inside(accountOn(port, user), async ({ wire }) => {
    for (const command of commands) await wire.run([command])
  })
}

const put = ({ port, user }: Mailbox, folders: Parameters<typeof fill>[1]) =>
  fill(accountOn(port, user), folders)
const at = ({ port, user }: Mailbox) => read(accountOn(port, user))
const hashes = async (mailbox: Mailbox, folder: string) =>
  ((await at(mailbox))[folder] ?? []).map(({ hash }) => hash)

/** A source and a destination, and the passes between them. */
async function synchronized(from: ServerName, to: ServerName) {
  const [here, there] = [await mailboxOn(from), await mailboxOn(to)]
  const journal = createMemoryJournal()
  async function pass(deletions: 'record' | 'apply' = 'record') {
    const { state, sync, notes, failures } = await migrate(here, there, {
      journal,
      sync: { deletions },
    })
    expect([state, failures]).toEqual(['completed', []])
    return { ...sync, notes }
  }
  return { here, there, journal, pass }
}

const NOTHING = { copied: 0, flags: 0, moved: 0, deleted: 0, applied: 0 }

describe.each([
  ['a Dovecot', 'a Cyrus', 'dovecot', 'cyrus'],
  ['a Dovecot without CONDSTORE', 'a Dovecot', 'plain', 'dovecot'],
  ['a Cyrus', 'a Dovecot without MOVE', 'cyrus', 'plain'],
] as const)('a synchronization from %s to %s', (_, __, from, to) => {
  it('follows new mail, flags, moves and deletions, and touches nobody else’s messages', async () => {
    const { here, there, pass } = await synchronized(from, to)
    const letters = Array.from({ length: 6 }, () => ({ body: mail() }))
    await put(here, {
      INBOX: letters.map((letter, index) =>
        index === 1 ? { ...letter, flags: ['\\Seen'] } : letter,
      ),
      Archive: [{}],
    })
    const first = await pass()
    expect(first.changes).toEqual({ ...NOTHING, copied: 7 })
    const second = await pass()
    expect(second.changes).toEqual(NOTHING)
    expect((await pass()).seen).toEqual(second.seen)
    expect(second.seen).toEqual(expect.any(String))

    const foreign = mail()
    await put(there, { INBOX: [{ body: foreign }] })
    await run(
      there,
      'SELECT INBOX',
      'UID STORE 2 +FLAGS (\\Answered)',
      'UID STORE 5 +FLAGS (\\Seen)',
    )
    await put(here, { INBOX: [{ flags: ['later'] }] })
    const [moveOut, remove] =
      from === 'plain'
        ? [['UID COPY 3 Archive', 'UID STORE 3 +FLAGS (\\Deleted)', 'UID EXPUNGE 3'], []]
        : [['UID MOVE 3 "Archive"'], []]
    await run(
      here,
      'SELECT INBOX',
      'UID STORE 1 +FLAGS (\\Flagged work)',
      'UID STORE 2 -FLAGS (\\Seen)',
      ...moveOut,
      ...remove,
      'UID STORE 4 +FLAGS (\\Deleted)',
      'UID EXPUNGE 4',
    )
    expect((await pass()).changes).toEqual({
      ...NOTHING,
      copied: 1,
      flags: 2,
      moved: 1,
      deleted: 1,
    })
    const present = await at(there)
    const [source] = [await at(here)]
    expect(contents(present['Archive'])).toEqual(contents(source['Archive']))
    expect(present['INBOX']?.map(({ flags }) => flags)).toEqual([
      ['\\Flagged', 'work'],
      ['\\Answered'],
      [],
      ['\\Seen'],
      [],
      [],
      ['later'],
    ])
    expect((await pass()).changes).toEqual(NOTHING)

    const applied = await pass('apply')
    expect(applied.changes).toEqual({ ...NOTHING, applied: 1 })
    const left = await hashes(there, 'INBOX')
    expect(left).toHaveLength(6)
    expect((await pass('apply')).changes).toEqual(NOTHING)
    const rest = (await hashes(here, 'INBOX')).filter((hash) => !left.includes(hash))
    expect(rest).toEqual([])
  })

  it('does not copy the messages of a renamed folder, or of one with new UIDs, again', async () => {
    const { here, there, pass } = await synchronized(from, to)
    const letters = Array.from({ length: 5 }, () => ({ body: mail() }))
    await put(here, { Projects: letters, Keep: letters.slice(0, 2) })
    await pass()
    await run(here, 'RENAME "Projects" "Done"')
    const renamed = await pass()
    expect(renamed.changes).toEqual({ ...NOTHING, moved: 5 })
    expect(contents((await at(there))['Done'])).toEqual(contents((await at(here))['Done']))

    await run(here, 'DELETE "Keep"')
    await put(here, { Keep: [...letters.slice(0, 2), {}] })
    expect((await pass('apply')).changes).toMatchObject({ copied: 1, applied: 0 })
    expect(await hashes(there, 'Keep')).toEqual(await hashes(here, 'Keep'))
    expect((await pass('apply')).changes).toEqual(NOTHING)
  })
})
