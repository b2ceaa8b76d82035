import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { startCourier } from '../servers/courier.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, contents, fill, mail, read, type Letter } from './mailbox.ts'
import { migrate } from './run.ts'
import type { Listening } from '../servers/listen.ts'
import { startTamper } from './tamper.ts'

describe('a migration to a destination such as strangers have', () => {
  let from: MailServer
  let to: MailServer
  let users = 0

  beforeAll(async () => {
    ;[from, to] = await Promise.all([startDovecot(), startDovecot()])
  })
  afterAll(async () => {
    await Promise.all([from.stop(), to.stop()])
  })

  /** The same name on both sides, with messages at the source. */
  async function person(folders: Record<string, Letter[]>): Promise<string> {
    const user = `user${(users += 1)}`
    await Promise.all([from.addUser(user, 'secret'), to.addUser(user, 'secret')])
    await fill(accountOn(from.port, user), folders)
    return user
  }
  async function meddling(...args: Parameters<typeof startTamper>): Promise<Listening> {
    const tamper = await startTamper(...args)
    onTestFinished(() => tamper.close())
    return tamper
  }
  const letters = (count: number, bytes = 300) =>
    Array.from({ length: count }, () => ({ body: mail(bytes) }))
  const at = ({ port }: { port: number }, user: string) => ({ port, user })
  const readAt = async ({ port }: { port: number }, user: string) => read(accountOn(port, user))
  async function expectEqual(user: string, server: { port: number } = to): Promise<void> {
    const [x, y] = [await readAt(from, user), await readAt(server, user)]
    for (const [folder, stored] of Object.entries(x))
      expect([folder, contents(y[folder])]).toEqual([folder, contents(stored)])
  }

  it('renames a folder where the server treats two names as one (6)', async () => {
    const user = await person({ Archive: [{}], archive: [{}, {}] })
    const ignoresCase = await meddling(to.port, {
      toServer(text, { answer }) {
        const tag = /^(P\d+) CREATE "?archive"?\r\n/.exec(text)?.[1]
        if (tag) answer(`${tag} NO [ALREADYEXISTS] Mailbox already exists`)
      },
    })
    const { state, notes } = await migrate(at(from, user), at(ignoresCase, user))
    expect([state, notes]).toEqual([
      'completed',
      [{ folder: 'archive', message: 'It became “archive_2”.' }],
    ])
    const there = await readAt(to, user)
    expect([there['Archive']?.length, there['archive_2']?.length]).toEqual([1, 2])
  })

  it('creates a folder beside another that cannot have children (7)', async () => {
    const user = await person({ x: [{}], 'x/y': [{}, {}] })
    const files = await startDovecot({
      extra: 'mail_location = mbox:~/mbox:INBOX=~/inbox\nmbox_write_locks = fcntl',
    })
    onTestFinished(() => files.stop())
    await files.addUser(user, 'secret')
    const { state, failures, notes } = await migrate(at(from, user), at(files, user))
    expect([state, failures, notes]).toEqual([
      'completed',
      [],
      [{ folder: 'x/y', message: 'It became “x_y”.' }],
    ])
    const there = await readAt(files, user)
    expect([there['x']?.length, there['x_y']?.length]).toEqual([1, 2])
  })

  it('offers a message that is too large once, and copies the others (19)', async () => {
    const user = await person({ INBOX: [{}, { body: mail(6_000_000) }, {}] })
    let times = 0
    const small = await meddling(to.port, {
      toServer(text, { answer }) {
        const tag = /^(P\d+) APPEND [^\r]*\{6\d{6}\}\r\n$/.exec(text)?.[1]
        if (tag && (times += 1)) answer(`${tag} NO [TOOBIG] Message too large`)
      },
    })
    const { failures } = await migrate(at(from, user), at(small, user))
    expect(failures).toMatchObject([{ uid: 2, code: 'too_large', attempts: 1 }])
    expect(times).toBe(1)
    expect((await readAt(to, user))['INBOX']).toHaveLength(2)
  })

  it('copies nothing twice to a server that rewrites messages (26)', async () => {
    const user = await person({ INBOX: letters(5) })
    const rewriting = await meddling(to.port, {
      toServer: (text, { instead }) => instead(text.replaceAll('Message-ID: <m', 'Message-ID: <z')),
    })
    const journal = createMemoryJournal()
    await migrate(at(from, user), at(rewriting, user), { journal })
    await fill(accountOn(from.port, user), { INBOX: [{}] })
    const again = await migrate(at(from, user), at(rewriting, user), {
      journal,
      deduplicate: true,
      withNewMail: true,
    })
    expect(again).toMatchObject({
      state: 'completed',
      progress: { messagesDone: 6, skippedByDedup: 0 },
    })
    const there = (await readAt(to, user))['INBOX'] ?? []
    expect(there).toHaveLength(6)
    expect(contents(there)).not.toEqual(contents((await readAt(from, user))['INBOX']))
  })

  it('omits keywords that a folder does not store, with a note (28)', async () => {
    const user = await person({
      INBOX: [{ flags: ['\\Seen', 'work'] }, { flags: ['work', '\\Flagged'] }],
    })
    const sent: string[] = []
    const closed = await meddling(to.port, {
      toServer: (text) => void sent.push(...(text.match(/APPEND [^{]*/g) ?? [])),
      toClient: (text, { instead }) =>
        instead(text.replace(/(\[PERMANENTFLAGS [^)]*) \\\*\)/, '$1)')),
    })
    const { state, notes } = await migrate(at(from, user), at(closed, user))
    expect([state, notes]).toEqual([
      'completed',
      [
        {
          folder: 'INBOX',
          message: 'The keyword “work” was dropped: the destination does not store it.',
        },
      ],
    ])
    expect(sent.join('')).not.toContain('work')
    expect((await readAt(to, user))['INBOX']?.map(({ flags }) => flags)).toEqual([
      ['\\Seen'],
      ['\\Flagged'],
    ])
  })

  it('needs no UIDNEXT, and copies nothing twice without it (35)', async () => {
    const user = await person({ INBOX: letters(5), Sent: letters(3) })
    const mute = {
      toClient: (text: string, { instead }: { instead: (text: string) => void }) =>
        instead(text.replaceAll('UIDNEXT', 'UIDNONE')),
    }
    const [here, there] = [await meddling(from.port, mute), await meddling(to.port, mute)]
    const journal = createMemoryJournal()
    expect(await migrate(at(here, user), at(there, user), { journal })).toMatchObject({
      state: 'completed',
    })
    await fill(accountOn(from.port, user), { Sent: [{}] })
    const again = await migrate(at(here, user), at(there, user), { journal, withNewMail: true })
    expect(again).toMatchObject({ state: 'completed', progress: { messagesDone: 9 } })
    await expectEqual(user)
  })

  it('continues when the quota is raised, also on a server without a response code for it (36)', async () => {
    const user = await person({ INBOX: letters(10, 20_000), Sent: letters(10, 20_000) })
    const courier = await startCourier({ quota: 250_000 })
    onTestFinished(() => courier.stop())
    await courier.addUser(user, 'secret')
    const journal = createMemoryJournal()
    const first = await migrate(at(from, user), at(courier, user), { journal })
    expect(first.stopped).toMatchObject({
      code: 'over_quota',
      message: expect.stringContaining('quota'),
    })
    expect(first.progress.messagesDone).toBeGreaterThan(0)
    courier.raiseQuota(user, 2_000_000)
    journal.failures.length = 0
    const second = await migrate(at(from, user), at(courier, user), { journal })
    expect(second).toMatchObject({
      state: 'completed',
      failures: [],
      progress: { messagesDone: 20, errorCount: 0 },
    })
    const [x, y] = [await readAt(from, user), await readAt(courier, user)]
    expect(contents(y['INBOX'])).toEqual(contents(x['INBOX']))
    expect(contents(y['INBOX.Sent'])).toEqual(contents(x['Sent']))
  })

  it.each([
    'NO [THROTTLED] slow down',
    'NO [INUSE] busy',
    'BAD Request is throttled. Suggested Backoff Time: 90 milliseconds',
    'BYE Session expired',
  ])('loses no message to “%s” (37)', async (words) => {
    const user = await person({ INBOX: letters(4) })
    let times = 0
    const busy = await meddling(to.port, {
      toServer(text, { answer, cut }) {
        const tag = /^(P\d+) APPEND (?!"portreeve-probe)/.exec(text)?.[1]
        if (!tag || (times += 1) > 2) return
        answer(`${words.startsWith('BYE') ? '*' : tag} ${words}`)
        if (words.startsWith('BYE')) cut()
      },
    })
    expect(await migrate(at(from, user), at(busy, user))).toMatchObject({
      state: 'completed',
      failures: [],
    })
    expect(times).toBeGreaterThan(2)
    await expectEqual(user)
  })

  it(
    'reconnects to a server that signed it out while the other side was slow (41)',
    { timeout: 60_000 },
    async () => {
      const user = await person({ INBOX: letters(2), Sent: letters(2), Work: letters(2) })
      const slow = await meddling(from.port, {
        toServer: async (text) =>
          void (/UID FETCH \S+ \(UID BODY\.PEEK/.test(text) && (await sleep(1_500))),
      })
      let byes = 0
      let timer: NodeJS.Timeout | undefined
      const impatient = await meddling(to.port, {
        toServer(_, { answer, cut }) {
          clearTimeout(timer)
          timer = setTimeout(() => {
            byes += 1
            answer('* BYE Autologout; idle for too long')
            cut()
          }, 1_000)
        },
      })
      onTestFinished(() => clearTimeout(timer))
      const outcome = await migrate(at(slow, user), at(impatient, user), { connections: 1 })
      expect(outcome).toMatchObject({ state: 'completed', failures: [] })
      expect(byes).toBeGreaterThan(1)
      await expectEqual(user)
    },
  )
})
