import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startCourier, type Courier } from '../servers/courier.ts'
import { startCyrus } from '../servers/cyrus.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startImapAccountFake, type FakeFolder } from '../servers/imap-account-fake.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy } from '../servers/proxy.ts'
import { accountOn, contents, fill, inside, mail, read, type Letter } from './mailbox.ts'
import { migrate } from './run.ts'
import { startTamper } from './tamper.ts'

/** The commands of a migration at which another client expunges. */
const AT_SCAN = /UID FETCH \S+ \(UID FLAGS INTERNALDATE/
const AT_BODIES = /UID FETCH \S+ \(UID BODY\.PEEK\[\]\)/

describe('messages that another client expunges while they are copied', () => {
  let courier: Courier
  let cyrus: MailServer
  let maildir: MailServer
  let to: MailServer
  let users = 0

  beforeAll(async () => {
    ;[courier, cyrus, maildir, to] = await Promise.all([
      startCourier(),
      startCyrus(),
      startDovecot({ layout: 'maildir' }),
      startDovecot(),
    ])
  }, 120_000)
  afterAll(async () => {
    await Promise.all([courier, cyrus, maildir, to].map((server) => server?.stop()))
  })

  const letters = (count: number, bytes = 900): Letter[] =>
    Array.from({ length: count }, () => ({ body: mail(bytes) }))
  const inboxOf = async (port: number, user: string) =>
    (await read(accountOn(port, user)))['INBOX'] ?? []

  async function person(server: MailServer, inbox: Letter[]): Promise<string> {
    const user = `user${(users += 1)}`
    await Promise.all([server.addUser(user, 'secret'), to.addUser(user, 'secret')])
    await fill(accountOn(server.port, user), { INBOX: inbox })
    return user
  }

  async function expunge(port: number, user: string, uids: string): Promise<void> {
    await inside(accountOn(port, user), async ({ wire }) => {
      for (const command of ['SELECT INBOX', `UID STORE ${uids} +FLAGS (\\Deleted)`, 'EXPUNGE'])
        await wire.run([command])
    })
  }

  /**
   * The server, and another client that expunges once, right before a command of the migration
   * arrives there.
   */
  async function expungedBefore(
    command: RegExp,
    server: MailServer,
    user: string,
    uids: string,
  ): Promise<number> {
    let isDone = false
    const tamper = await startTamper(server.port, {
      async toServer(text) {
        if (isDone || !command.test(text)) return
        isDone = true
        await expunge(server.port, user, uids)
      },
    })
    onTestFinished(() => tamper.close())
    return tamper.port
  }

  it.each([
    ['Courier, between scan and fetch', () => courier, AT_BODIES],
    ['Courier, between opening and scan', () => courier, AT_SCAN],
    ['Cyrus, between scan and fetch', () => cyrus, AT_BODIES],
    ['Cyrus, between opening and scan', () => cyrus, AT_SCAN],
    ['Dovecot, between scan and fetch', () => maildir, AT_BODIES],
    ['Dovecot, between opening and scan', () => maildir, AT_SCAN],
  ] as const)(
    'are gone, and nothing is copied in their place: %s (13, 14)',
    async (_, serverOf, command) => {
      const server = serverOf()
      const user = await person(server, [...letters(50), { body: mail(1_400_000) }, ...letters(9)])
      const before = contents(await inboxOf(server.port, user))
      const port = await expungedBefore(command, server, user, '5:45,51')
      const { state, failures, progress } = await migrate({ port, user }, { port: to.port, user })
      expect([state, failures]).toEqual(['completed', []])
      const there = contents(await inboxOf(to.port, user))
      // A server may return expunged messages until it has reported the EXPUNGE (RFC 2180, 4.1.1):
      // Cyrus does.
      expect(before).toEqual(expect.arrayContaining(there))
      expect(there).toEqual(expect.arrayContaining(contents(await inboxOf(server.port, user))))
      expect(progress).toMatchObject({ messagesDone: there.length, messagesTotal: there.length })
      if (server !== cyrus) expect(there).toHaveLength(18)
    },
  )

  const refusals = [
    'NO Some of the requested messages no longer exist.',
    'NO [EXPUNGEISSUED] FETCH failed',
    'NO [EXPUNGEISSUED] at least one message was expunged',
  ]
  const commands = { search: /UID SEARCH/, scan: AT_SCAN, bodies: AT_BODIES }
  const cases = refusals.flatMap((words) =>
    Object.keys(commands).map((at) => [words, at as keyof typeof commands] as const),
  )
  it.each(cases)(
    'count as gone where the server responds “%s” to the %s until NOOP (14)',
    async (words, at) => {
      // Small folders are listed without a search.
      const user = await person(maildir, letters(at === 'search' ? 501 : 10))
      let isTold = true
      let refused = 0
      const tamper = await startTamper(maildir.port, {
        async toServer(text, { answer }) {
          if (refused === 0 && commands[at].test(text)) {
            await expunge(maildir.port, user, '3:5')
            isTold = false
          }
          if (/^P\d+ NOOP/.test(text)) isTold = true
          const tag = /^(P\d+) UID/.exec(text)?.[1]
          if (isTold || !tag) return
          refused += 1
          answer(`${tag} ${words}`)
        },
      })
      onTestFinished(() => tamper.close())
      const { state, failures } = await migrate(
        { port: tamper.port, user },
        { port: to.port, user },
      )
      expect([state, failures]).toEqual(['completed', []])
      expect(refused).toBeGreaterThan(0)
      expect(contents(await inboxOf(to.port, user))).toEqual(
        contents(await inboxOf(maildir.port, user)),
      )
    },
  )

  it('count as gone where the server returns empty bodies for them until NOOP (14)', async () => {
    const user = await person(maildir, letters(10))
    let isTold = true
    const tamper = await startTamper(maildir.port, {
      async toServer(text, { answer }) {
        if (AT_BODIES.test(text) && isTold) {
          await expunge(maildir.port, user, '1:10')
          isTold = false
          answer(
            Array.from({ length: 10 }, (_, n) => `* ${n + 1} FETCH (UID ${n + 1} BODY[] NIL)`).join(
              '\r\n',
            ),
          )
          answer(`${/^P\d+/.exec(text)?.[0]} OK`)
        }
      },
    })
    onTestFinished(() => tamper.close())
    const { state, failures } = await migrate({ port: tamper.port, user }, { port: to.port, user })
    expect([state, failures]).toEqual(['completed', []])
    expect(await inboxOf(to.port, user)).toEqual([])
  })

  it('copies a message that looks like Courier’s placeholder, because it is one of an earlier migration', async () => {
    const standIn =
      'From: System Administrator <root@localhost>\r\nSubject: message unavailable\r\n\r\n' +
      'This message is no longer available on the server.\r\n'
    const user = await person(courier, [...letters(2), { body: standIn }])
    const { state, failures } = await migrate({ port: courier.port, user }, { port: to.port, user })
    expect([state, failures]).toEqual(['completed', []])
    expect(contents(await inboxOf(to.port, user))).toEqual(
      contents(await inboxOf(courier.port, user)),
    )
  })

  it('fail alone where Courier cannot read a file that is still there', async () => {
    const user = await person(courier, letters(3))
    const folder = join(courier.folderOf(user), 'cur')
    const [file = ''] = readdirSync(folder).toSorted()
    chmodSync(join(folder, file), 0)
    const { state, failures } = await migrate({ port: courier.port, user }, { port: to.port, user })
    expect(state).toBe('failed')
    expect(failures).toMatchObject([{ folder: 'INBOX', code: 'unfetchable' }])
    expect(await inboxOf(to.port, user)).toHaveLength(2)
  })
})

describe('a source whose messages differ from their reported size', () => {
  let to: MailServer
  let users = 0

  beforeAll(async () => {
    to = await startDovecot()
  })
  afterAll(async () => to.stop())

  type Answers = FakeFolder['answers']

  async function copy(bodies: Buffer[], tells: FakeFolder['tells'], answers?: Answers) {
    const folder: FakeFolder = {
      count: bodies.length,
      body: (uid) => bodies[uid - 1] ?? Buffer.alloc(0),
      tells,
      answers,
    }
    const source = await startImapAccountFake({ INBOX: folder })
    onTestFinished(() => source.close())
    const user = `user${(users += 1)}`
    await to.addUser(user, 'secret')
    const proxy = await startProxy(to.port, { record: true })
    onTestFinished(() => proxy.close())
    const outcome = await migrate(source, { port: proxy.port, user })
    const stored = (await read(accountOn(to.port, user)))['INBOX'] ?? []
    return { ...outcome, source, sizes: stored.map(({ size }) => size).toSorted((a, b) => a - b) }
  }
  const sizesOf = (bodies: Buffer[]) => bodies.map((body) => body.length).toSorted((a, b) => a - b)
  const counting = (count: (body: Buffer) => number, bodies: Buffer[]) => (uid: number) => ({
    'RFC822.SIZE': String(count(bodies[uid - 1] ?? Buffer.alloc(0))),
  })

  it('is believed without a word when it counts line ends of one byte, and no message is fetched twice', async () => {
    const bodies = [...Array.from({ length: 20 }, () => mail(3_000)), mail(1_500_000)]
    const tells = counting(
      (body) => body.length - body.toString('latin1').split('\r\n').length + 1,
      bodies,
    )
    const { state, notes, sizes, source } = await copy(bodies, tells)
    expect([state, notes, sizes]).toEqual(['completed', [], sizesOf(bodies)])
    const fetches = source.lines.filter((line) => line.endsWith('BODY.PEEK[])'))
    // The large one alone is measured before it is taken.
    expect(fetches.filter((line) => !line.includes(' 21 '))).toHaveLength(1)
  })

  it('is accepted as estimating after it returned the same bytes twice, with a note', async () => {
    const bodies = [
      ...Array.from({ length: 40 }, () => mail(3_000)),
      mail(1_500_000),
      mail(1_600_000),
    ]
    const { state, failures, notes, sizes, source } = await copy(
      bodies,
      counting(({ length }) => length + 777, bodies),
    )
    expect([state, failures, sizes]).toEqual(['completed', [], sizesOf(bodies)])
    expect(notes).toEqual([
      { folder: 'INBOX', message: expect.stringContaining('reports wrong sizes') },
    ])
    const bytes = source.commands.filter(({ args }) =>
      /^\d+ \(UID BODY\.PEEK\[\]\)/.test(args),
    ).length
    expect(bytes).toBeLessThanOrEqual(2 + 5)
  })

  it.each([
    [
      'breaks off, with more to be had',
      (body: Buffer) => body.subarray(0, 1_000),
      /first 1000 bytes of more/,
    ],
    ['nothing', () => Buffer.alloc(0), /gives nothing for this message/],
    [
      'others each time',
      (body: Buffer, time: number) => body.subarray(0, 900 + time),
      /and \d+ others when asked again/,
    ],
    [
      'Exchange’s stand-in',
      () =>
        Buffer.from(
          'From: "Microsoft Exchange Server"\r\nSubject: Retrieval using the IMAP4 protocol failed for the following message: 2\r\n\r\nx\r\n',
        ),
      /another message in its place/,
    ],
  ] as const)(
    'does not have a message copied that it gives so: %s',
    async (kind, answer, words) => {
      const bodies = [mail(3_000), mail(3_000), mail(3_000)]
      let times = 0
      const answers: Answers = (uid, whole, from) => {
        if (uid !== 2) return whole
        const given = answer(bodies[1] as Buffer, (times += 1))
        if (from === null) return given
        return kind.startsWith('breaks') ? whole : Buffer.alloc(0)
      }
      const { state, failures, sizes } = await copy(bodies, undefined, answers)
      expect([state, failures]).toEqual([
        'failed',
        [
          expect.objectContaining({
            uid: 2,
            code: 'unfetchable',
            message: expect.stringMatching(words),
          }),
        ],
      ])
      expect(sizes).toEqual(sizesOf([bodies[0] as Buffer, bodies[2] as Buffer]))
    },
  )

  it('is copied without a note where the second fetch was complete', async () => {
    const bodies = [mail(3_000), mail(3_000), mail(1_400_000)]
    const times = new Map<number, number>()
    const answers: Answers = (uid, whole, from) => {
      if (from !== null) return Buffer.alloc(0)
      const time = (times.get(uid) ?? 0) + 1
      times.set(uid, time)
      return uid > 1 && time === 1 ? whole.subarray(0, whole.length - 100) : whole
    }
    const { state, failures, notes, sizes } = await copy(bodies, undefined, answers)
    expect([state, failures, notes, sizes]).toEqual(['completed', [], [], sizesOf(bodies)])
  })
})
