import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { startCourier } from '../servers/courier.ts'
import { startCyrus } from '../servers/cyrus.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startImapAccountFake, type FakeFolder } from '../servers/imap-account-fake.ts'
import type { ImapFake } from '../servers/imap-fake.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy } from '../servers/proxy.ts'
import { accountOn, mail, momentOf, read } from './mailbox.ts'
import { migrate } from './run.ts'

describe('a migration from a source such as strangers have', () => {
  let dovecot: MailServer
  let dots: MailServer
  let cyrus: MailServer
  let courier: MailServer
  let users = 0

  beforeAll(async () => {
    ;[dovecot, dots, cyrus, courier] = await Promise.all([
      startDovecot(),
      startDovecot({ layout: 'maildir', separator: '.' }),
      startCyrus(),
      startCourier(),
    ])
  }, 120_000)
  afterAll(async () => {
    await Promise.all([dovecot, dots, cyrus, courier].map((server) => server?.stop()))
  })

  async function sourceWith(folders: Record<string, FakeFolder>): Promise<ImapFake> {
    const source = await startImapAccountFake(folders)
    onTestFinished(() => source.close())
    return source
  }
  async function account(server: MailServer): Promise<{ port: number; user: string }> {
    const user = `user${(users += 1)}`
    await server.addUser(user, 'secret')
    return { port: server.port, user }
  }
  function holding(bodies: (string | Buffer)[], tells?: FakeFolder['tells']): FakeFolder {
    return { count: bodies.length, body: (uid) => Buffer.from(bodies[uid - 1] ?? ''), tells }
  }
  const readAt = ({ port, user }: { port: number; user: string }) => read(accountOn(port, user))
  const hashOf = (body: string | Buffer) => createHash('sha256').update(body).digest('hex')

  it('finds names for folders whose names no server accepts (4)', async () => {
    const names = ['a//b', '...', '~x', ' leading', 'Dr. Jones', 'y'.repeat(255)]
    const source = await sourceWith(
      Object.fromEntries(names.map((name) => [name, holding([mail()])])),
    )
    for (const server of [dovecot, dots, cyrus, courier]) {
      const there = await account(server)
      expect(await migrate(source, there)).toMatchObject({ state: 'completed', failures: [] })
      const filled = Object.values(await readAt(there)).filter((stored) => stored.length > 0)
      expect(filled.map((stored) => stored.length)).toEqual(names.map(() => 1))
    }
  })

  it('reads malformed and raw names by their bytes, and writes modified UTF-7 (5)', async () => {
    const names = ['bad&', 'L\u00f8be', 'L\u00c3\u00b8be', 'L&APg-be']
    const source = await sourceWith(
      Object.fromEntries(names.map((name) => [name, holding([mail()])])),
    )
    const there = await account(cyrus)
    const proxy = await startProxy(cyrus.port, { record: true })
    onTestFinished(() => proxy.close())
    expect(await migrate(source, { ...there, port: proxy.port })).toMatchObject({
      state: 'completed',
      failures: [],
    })
    const made = proxy
      .recorded('toServer')
      .toString('latin1')
      .match(/ CREATE .*/g)
    expect(made?.length).toBeGreaterThanOrEqual(names.length)
    for (const command of made ?? []) expect(command).toMatch(/^[ -~]+$/)
    const filled = Object.values(await readAt(there)).filter((stored) => stored.length > 0)
    expect(filled).toHaveLength(names.length)
  })

  it('copies the malformed messages that a server accepts, lists the others, and never stops (14, 15, 16, 18)', async () => {
    const bodies = [
      mail(),
      'Subject: nul\r\n\r\na\0b\r\n',
      'Subject: line feeds\n\nbare\n',
      '',
      'Subject: header only\r\n\r\n',
      'no header at all\r\n',
      'Subject: eight bit \u00e4\r\n\r\nx\r\n',
      mail(),
    ]
    const source = await sourceWith({ INBOX: holding(bodies) })
    for (const server of [dovecot, cyrus]) {
      const there = await account(server)
      const { progress, failures } = await migrate(source, there)
      expect(progress).toMatchObject({ messagesDone: bodies.length, errorCount: failures.length })
      const failed = new Set(failures.map(({ uid }) => uid))
      expect(failures.find(({ uid }) => uid === 4)).toMatchObject({ code: 'refused', size: 0 })
      const stored = (await readAt(there))['INBOX'] ?? []
      expect(stored).toHaveLength(bodies.length - failed.size)
    }
  })

  it('copies the received bytes, whatever size the source reported (20)', async () => {
    const bodies = [mail(300), mail(5_000), mail(1_500_000), mail(2_000)]
    const sizes = ['10', '999999', '20', '3000000']
    const source = await sourceWith({
      INBOX: holding(bodies, (uid) => ({ 'RFC822.SIZE': sizes[uid - 1] ?? '' })),
    })
    const there = await account(dovecot)
    expect(await migrate(source, there)).toMatchObject({ state: 'completed', failures: [] })
    const stored = (await readAt(there))['INBOX'] ?? []
    expect(stored.map(({ hash }) => hash).toSorted()).toEqual(bodies.map(hashOf).toSorted())
  })

  it('sends no invalid flag or date, so that nothing of a message is executed (27, 29)', async () => {
    const body = 'Date: Sat, 2 Mar 2024 10:00:00 +0100\r\n\r\nzz1 CREATE INJECTED\r\nzz2 LOGOUT\r\n'
    const tells = () => ({
      FLAGS: '(\\Foo \\Seen \\Recent \\RECEIPTCHECKED \\$NOTJUNK NIL fine)',
      INTERNALDATE: '"31-Feb-2001 25:61:06 +0000"',
    })
    const source = await sourceWith({ INBOX: holding([body, body, body], tells) })
    const there = await account(dovecot)
    expect(await migrate(source, there)).toMatchObject({ state: 'completed', failures: [] })
    const all = await readAt(there)
    expect(Object.keys(all)).toEqual(['INBOX'])
    expect(all['INBOX']?.map(({ flags, hash }) => [flags, hash])).toEqual(
      Array.from({ length: 3 }, () => [['\\Seen', 'fine'], hashOf(body)]),
    )
  })

  it.each([1, 2])(
    'copies messages once that %i searches omit',
    { timeout: 30_000 },
    async (searches) => {
      const count = 600
      const bodies = Array.from({ length: count }, () => mail())
      const isLate = (uid: number) => uid % 250 === 7
      const source = await sourceWith({
        INBOX: {
          ...holding(bodies),
          lists: (uid, time) => time % (searches + 1) === 0 || !isLate(uid),
        },
      })
      const to = await account(dovecot)
      const journal = createMemoryJournal()
      for (let run = 0; run < 2; run++) {
        const { state, progress } = await migrate({ port: source.port }, to, {
          journal,
          withNewMail: true,
        })
        expect([state, progress.messagesDone]).toEqual(['completed', count])
      }
      const { INBOX: copied = [] } = await readAt(to)
      expect(copied.map(({ hash }) => hash).toSorted()).toEqual(bodies.map(hashOf).toSorted())
      expect(copied.filter(({ flags }) => !flags.includes('\\Seen'))).toEqual([])
    },
  )

  it('keeps the source’s date of any year, uses the header’s where it is invalid, and notes every change (30)', async () => {
    const dates = [
      'NIL',
      '"31-Feb-2001 25:61:06 +0000"',
      '"01-Jan-2099 00:00:00 +0000"',
      '"01-Jan-1904 00:00:00 +0000"',
    ]
    const dated = 'Date: Sat, 2 Mar 2024 10:00:00 +0100\r\nSubject: x\r\n\r\nx\r\n'
    const bodies = [dated, dated, dated, dated, 'Subject: undated\r\n\r\nx\r\n']
    const source = await sourceWith({
      INBOX: holding(bodies, (uid) => ({ INTERNALDATE: dates[uid - 1] ?? 'NIL' })),
    })
    const header = Date.parse('2024-03-02T09:00:00Z')
    const future = Date.parse('2099-01-01T00:00:00Z')
    const unreadable =
      /^The source’s date “31-Feb-2001 25:61:06 .*” is invalid\. The message has the date of its Date header/
    const always = [
      [undefined, /^The source stores no dates for messages of this folder/],
      [2, unreadable],
      [5, /The destination set one\./],
    ] as const
    const changed = [
      3,
      /changed the dates of 2 messages, .* instead of 2099-01-01T00:00:00.000Z/,
    ] as const
    const refused = [
      4,
      /rejected the date “01-Jan-1904 .*”\. The message has the date of its Date header/,
    ] as const
    const cases = [
      { server: courier, kept: [header, header, future, header], notes: [...always, refused] },
      { server: cyrus, kept: [header, header, future, header], notes: [...always, refused] },
      { server: dovecot, kept: [header, header], notes: [...always, changed] },
    ]
    for (const { server, kept, notes } of cases) {
      const there = await account(server)
      const outcome = await migrate(source, there)
      const stored = ((await readAt(there))['INBOX'] ?? []).map(({ date }) => momentOf(date))
      expect(stored).toHaveLength(5)
      for (const moment of kept) expect(stored).toContain(moment)
      expect(outcome.state).toBe('completed')
      for (const [uid, message] of notes)
        expect(outcome.notes).toContainEqual(
          expect.objectContaining({ uid, message: expect.stringMatching(message) }),
        )
    }
  })
})
