import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCourier } from '../servers/courier.ts'
import { startCyrus } from '../servers/cyrus.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy } from '../servers/proxy.ts'
import { accountOn, contents, fill, inside, mail, read, type Letter } from './mailbox.ts'
import { migrate } from './run.ts'
import type { Listening } from '../servers/listen.ts'
import { startTamper } from './tamper.ts'

describe('a migration between servers that misbehave', () => {
  let from: MailServer
  let to: MailServer
  let users = 0

  beforeAll(async () => {
    ;[from, to] = await Promise.all([
      startDovecot({ extra: 'mail_max_keyword_length = 200' }),
      startDovecot(),
    ])
  })
  afterAll(async () => {
    await Promise.all([from.stop(), to.stop()])
  })

  /** The same name on both sides, with messages at the source. */
  async function person(letters: Letter[]): Promise<string> {
    const user = `user${(users += 1)}`
    await Promise.all([from.addUser(user, 'secret'), to.addUser(user, 'secret')])
    await fill(accountOn(from.port, user), { INBOX: letters })
    return user
  }
  const here = (user: string, { port }: { port: number } = from) => ({ port, user })
  const there = (user: string, { port }: { port: number } = to) => ({ port, user })
  const inboxOf = async (port: number, user: string) =>
    (await read(accountOn(port, user)))['INBOX'] ?? []

  async function within<T>(
    tamper: Promise<Listening>,
    work: (tamper: Listening) => Promise<T>,
  ): Promise<T> {
    const standing = await tamper
    try {
      return await work(standing)
    } finally {
      await standing.close()
    }
  }

  it('waits as long as the server requests, shows it, and loses nothing (37)', async () => {
    const user = await person([{}, {}, {}])
    let times = 0
    const tamper = startTamper(to.port, {
      toServer(text, { answer }) {
        const tag = /^(P\d+) APPEND (?!"portreeve-probe)/.exec(text)?.[1]
        if (tag && (times += 1) <= 2)
          answer(`${tag} NO Request is throttled. Suggested Backoff Time: 700 milliseconds`)
      },
    })
    await within(tamper, async (standing) => {
      const began = performance.now()
      const { state, failures, seen } = await migrate(here(user), there(user, standing))
      expect([state, failures]).toEqual(['completed', []])
      expect(performance.now() - began).toBeGreaterThan(1_400)
      expect(seen.some(({ throttledUntil }) => throttledUntil !== null)).toBe(true)
      expect(await inboxOf(to.port, user)).toHaveLength(3)
    })
  })

  it('fails one message that a server always rejects temporarily, and copies the others', async () => {
    const user = await person([{ body: mail(10, 'X-Put-Off: yes\r\n') }, {}, {}])
    const [off] = await inboxOf(from.port, user)
    const single = await startDovecot({ capability: 'IMAP4rev1 UIDPLUS' })
    await single.addUser(user, 'secret')
    const tamper = startTamper(single.port, {
      toServer(text, { answer }) {
        const tag = /^(P\d+) APPEND (?!"portreeve-probe)/.exec(text)?.[1]
        if (tag && text.includes(`{${off?.size}}`)) answer(`${tag} NO [INUSE] try again later`)
      },
    })
    await within(tamper, async (standing) => {
      const { failures } = await migrate(here(user), there(user, standing))
      expect(failures).toMatchObject([{ uid: 1, code: 'refused' }])
      expect(await inboxOf(single.port, user)).toHaveLength(2)
    })
    await single.stop()
  })

  it(
    'isolates a message at which the destination closes the connection (42)',
    { timeout: 60_000 },
    async () => {
      const letters = Array.from({ length: 40 }, (_, n) => ({
        body: n === 17 ? 'Subject: x\r\n\r\nPOISON\r\n' : mail(400),
      }))
      const user = await person(letters)
      const toServer = (text: string, { cut }: { cut: () => void }) =>
        void (text.includes('POISON') && cut())
      await within(startTamper(to.port, { toServer }), async (standing) => {
        const { progress, failures } = await migrate(here(user), there(user, standing))
        expect(failures).toMatchObject([
          { folder: 'INBOX', uid: 18, code: 'connection_lost', attempts: 4 },
        ])
        expect(progress).toMatchObject({ messagesDone: 40, messagesTotal: 40, errorCount: 1 })
        expect(await inboxOf(to.port, user)).toHaveLength(39)
      })
    },
  )

  it(
    'isolates a message at which the source closes the connection (23)',
    { timeout: 60_000 },
    async () => {
      const letters = Array.from({ length: 40 }, (_, n) => ({
        body: n === 17 ? 'Subject: x\r\n\r\nPOISON\r\n' : mail(400),
      }))
      const user = await person(letters)
      const toClient = (text: string, { cut }: { cut: () => void }) =>
        void (text.includes('POISON') && cut())
      await within(startTamper(from.port, { toClient }), async (standing) => {
        const { failures } = await migrate(here(user, standing), there(user))
        expect(failures).toMatchObject([{ folder: 'INBOX', uid: 18, code: 'connection_lost' }])
        expect(await inboxOf(to.port, user)).toHaveLength(39)
      })
    },
  )

  it('counts a message that disappears between scan and fetch as gone, not as an error (22)', async () => {
    const user = await person([])
    const maildir = await startDovecot({ layout: 'maildir' })
    await maildir.addUser(user, 'secret')
    await fill(accountOn(maildir.port, user), { INBOX: [{}, {}, {}] })
    let isDone = false
    const tamper = startTamper(maildir.port, {
      async toServer(text) {
        if (isDone || !/UID FETCH \S+ \(UID BODY\.PEEK/.test(text)) return
        isDone = true
        await inside(accountOn(maildir.port, user), async ({ wire }) => {
          for (const command of ['SELECT INBOX', 'UID STORE 2 +FLAGS (\\Deleted)', 'EXPUNGE'])
            await wire.run([command])
        })
      },
    })
    await within(tamper, async (standing) => {
      const { state, failures, progress } = await migrate(here(user, standing), there(user))
      expect([state, failures]).toEqual(['completed', []])
      expect(progress).toMatchObject({ messagesDone: 2, messagesTotal: 2 })
      expect(contents(await inboxOf(to.port, user))).toEqual(
        contents(await inboxOf(maildir.port, user)),
      )
    })
    await maildir.stop()
  })

  it('copies from a source that rejects SEARCH, and still verifies the count', async () => {
    const user = await person([{}, {}, {}])
    const tamper = startTamper(from.port, {
      toServer(text, { answer }) {
        const tag = /^(P\d+) UID SEARCH/.exec(text)?.[1]
        if (tag) answer(`${tag} NO SEARCH is not for you`)
      },
    })
    await within(tamper, async (standing) => {
      expect(await migrate(here(user, standing), there(user))).toMatchObject({
        state: 'completed',
        failures: [],
      })
      expect(contents(await inboxOf(to.port, user))).toEqual(
        contents(await inboxOf(from.port, user)),
      )
    })
  })

  it('never loses a message for a keyword (27, 28)', async () => {
    const keyword = 'k'.repeat(80)
    const user = await person([{ flags: ['\\Seen', keyword] }, { flags: ['\\Flagged', 'fine'] }])
    const { failures, notes } = await migrate(here(user), there(user))
    expect(failures).toEqual([])
    expect(notes).toMatchObject([{ folder: 'INBOX', uid: 1 }])
    const flags = (await inboxOf(to.port, user)).map((stored) => stored.flags)
    expect(flags.toSorted((a, b) => b.length - a.length)).toEqual([
      ['\\Flagged', 'fine'],
      ['\\Seen'],
    ])
  })

  it('copies forty keywords where servers store them, and otherwise the message alone (28)', async () => {
    const many = Array.from({ length: 40 }, (_, n) => `keyword${n}`)
    const flags = ['\\Seen', ...many]
    const user = await person([{ flags }, { flags: ['\\Flagged'] }])
    const servers = await Promise.all([
      startDovecot({ layout: 'maildir' }),
      startCourier(),
      startCyrus(),
    ])
    for (const server of servers) {
      await server.addUser(user, 'secret')
      expect(await migrate(here(user), there(user, server))).toMatchObject({
        state: 'completed',
        notes: [],
      })
      expect(contents(await inboxOf(server.port, user))).toEqual(
        contents(await inboxOf(from.port, user)),
      )
      await server.stop()
    }
    // An older Maildir stores up to 26 keywords, one letter each.
    const strict = startTamper(to.port, {
      toServer(text, { answer }) {
        const [, tag = '', told = ''] = /^(P\d+) APPEND \S+ \(([^)]*)\)/.exec(text) ?? []
        if (told.split(' ').length > 27)
          answer(`${tag} NO [LIMIT] Too many keywords in this mailbox`)
      },
    })
    await within(strict, async (standing) => {
      const { state, notes } = await migrate(here(user), there(user, standing))
      expect([state, notes]).toMatchObject([
        'completed',
        [{ uid: 1, message: expect.stringContaining('keywords') }],
      ])
      const kept = (await inboxOf(to.port, user)).map((stored) => stored.flags)
      expect(kept.toSorted((a, b) => String(b).localeCompare(String(a)))).toEqual([
        ['\\Seen'],
        ['\\Flagged'],
      ])
    })
  })

  it('omits a keyword of 300 characters before any server sees it, with a note (28)', async () => {
    const user = `user${(users += 1)}`
    const generous = await startDovecot({ extra: 'mail_max_keyword_length = 400' })
    await Promise.all([generous.addUser(user, 'secret'), to.addUser(user, 'secret')])
    await fill(accountOn(generous.port, user), { INBOX: [{}] })
    const long = 'k'.repeat(300)
    await inside(accountOn(generous.port, user), async ({ wire }) => {
      for (const command of ['SELECT INBOX', `UID STORE 1 +FLAGS (\\Seen fine ${long})`])
        await wire.run([command])
    })
    const proxy = await startProxy(to.port, { record: true })
    const { state, notes } = await migrate(here(user, generous), there(user, proxy))
    expect(proxy.recorded('toServer').toString('latin1')).not.toContain(long)
    expect([state, notes]).toEqual([
      'completed',
      [{ folder: 'INBOX', message: expect.stringMatching(/^The keyword “k+” was dropped/) }],
    ])
    expect((await inboxOf(to.port, user)).map(({ flags }) => flags)).toEqual([['\\Seen', 'fine']])
    await proxy.close()
    await generous.stop()
  })

  it.each([
    'IMAP4rev1',
    'IMAP4rev1 LITERAL-',
    'IMAP4rev1 UIDPLUS',
    'IMAP4rev1 LITERAL+ MULTIAPPEND',
  ])(
    'copies all to a server that can only %s, and nothing twice when it is cut (43)',
    async (capability) => {
      const poor = await startDovecot({ capability })
      const twin = { body: mail(700), date: '01-Mar-2021 08:09:10 +0100' }
      const user = await person([
        ...Array.from({ length: 60 }, () => ({ body: mail(4_500) })),
        twin,
        twin,
      ])
      await poor.addUser(user, 'secret')
      let appends = 0
      const toServer = (text: string, { cut }: { cut: () => void }) => {
        if (/ APPEND /.test(text) && [1, 12, 30].includes((appends += 1)))
          setTimeout(cut, Math.random() * 20)
      }
      await within(startTamper(poor.port, { toServer }), async (standing) => {
        const { state, failures } = await migrate(here(user), there(user, standing))
        expect([state, failures]).toEqual(['completed', []])
        expect(contents(await inboxOf(poor.port, user))).toEqual(
          contents(await inboxOf(from.port, user)),
        )
      })
      await poor.stop()
    },
  )
})
