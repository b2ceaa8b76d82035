import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { stringOf } from '../../src/net/imap/connection/response.ts'
import { startCourier } from '../servers/courier.ts'
import { startCyrus } from '../servers/cyrus.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startImapAccountFake } from '../servers/imap-account-fake.ts'
import { startProxy } from '../servers/proxy.ts'
import { accountOn, contents, fill, inside, mail, read, type Letter } from './mailbox.ts'
import { migrate } from './run.ts'

describe('a migration between real servers', () => {
  let dovecot: MailServer
  let other: MailServer
  let picky: MailServer
  let courier: MailServer
  let cyrus: MailServer
  let users = 0

  beforeAll(async () => {
    ;[dovecot, other, picky, courier, cyrus] = await Promise.all([
      startDovecot(),
      startDovecot({ layout: 'maildir', separator: '.' }),
      startDovecot({ layout: 'maildir' }),
      startCourier(),
      startCyrus(),
    ])
  }, 120_000)
  afterAll(async () => {
    await Promise.all([dovecot, other, picky, courier, cyrus].map((server) => server?.stop()))
  })

  /** A new account on a server. */
  async function account(server: MailServer): Promise<{ port: number; user: string }> {
    const user = `user${(users += 1)}`
    await server.addUser(user, 'secret')
    return { port: server.port, user }
  }
  /** A new account with messages in it. */
  async function accountWith(server: MailServer, folders: Record<string, Letter[]>) {
    const made = await account(server)
    await fill(accountOn(made.port, made.user), folders)
    return made
  }
  const readAt = ({ port, user }: { port: number; user: string }) => read(accountOn(port, user))

  it('keeps the hierarchy between namespaces and delimiters, both ways (1)', async () => {
    const here = await accountWith(dovecot, {
      INBOX: [{}],
      Sent: [{ flags: ['\\Seen'] }],
      'a/b': [{}, {}],
    })
    const there = await account(courier)
    expect(await migrate(here, there)).toMatchObject({ state: 'completed', failures: [] })
    const [x, y] = [await readAt(here), await readAt(there)]
    expect(contents(y['INBOX.a.b'])).toEqual(contents(x['a/b']))
    expect(contents(y['INBOX.Sent'])).toEqual(contents(x['Sent']))
    const back = await account(dovecot)
    expect(await migrate(there, back)).toMatchObject({ state: 'completed', failures: [] })
    const z = await readAt(back)
    for (const path of ['INBOX', 'Sent', 'a/b'])
      expect([path, contents(z[path])]).toEqual([path, contents(x[path])])
  })

  it.each([
    [
      'Dovecot to Cyrus to a Dovecot with dots',
      () => [dovecot, cyrus, other] as const,
      'Löbende/日本',
      'Löbende.日本',
    ],
    [
      'Dovecot to Cyrus to Courier',
      () => [dovecot, cyrus, courier] as const,
      'Löbende/日本',
      'INBOX.Löbende.日本',
    ],
    [
      'Courier to Cyrus to Dovecot',
      () => [courier, cyrus, dovecot] as const,
      'INBOX.Löbende.日本',
      'Löbende/日本',
    ],
  ] as const)('keeps all from %s (1)', async (_, servers, before, after) => {
    const [first, second, third] = servers()
    const here = await accountWith(first, {
      INBOX: Array.from({ length: 30 }, () => ({
        flags: ['\\Seen', '$Forwarded'],
        date: '02-Feb-2020 01:02:03 +0000',
      })),
      [before]: [{}, { body: mail(1_500_000) }],
    })
    const [there, back] = [await account(second), await account(third)]
    expect(await migrate(here, there)).toMatchObject({ state: 'completed', failures: [] })
    expect(await migrate(there, back)).toMatchObject({ state: 'completed', failures: [] })
    const [x, z] = [await readAt(here), await readAt(back)]
    expect(contents(z['INBOX'])).toEqual(contents(x['INBOX']))
    expect(contents(z[after])).toEqual(contents(x[before]))
    expect(z[after]).toHaveLength(2)
  })

  it('routes everything under a prefix, also where there is a namespace (2)', async () => {
    const here = await accountWith(dovecot, { INBOX: [{}], 'INBOX/sub': [{}], Sent: [{}] })
    const [there, third] = [await account(dovecot), await account(courier)]
    expect((await migrate(here, there, { prefix: 'P' })).failures).toEqual([])
    expect(Object.keys(await readAt(there)).toSorted()).toEqual([
      'INBOX',
      'P/INBOX',
      'P/INBOX/sub',
      'P/Sent',
    ])
    expect((await migrate(here, third, { prefix: 'P' })).failures).toEqual([])
    expect(Object.keys(await readAt(third))).toEqual(
      expect.arrayContaining(['INBOX.P.INBOX', 'INBOX.P.Sent']),
    )
  })

  it('finds a name that the destination accepts, and reports it (3, 4)', async () => {
    const names = ['Dr. Jones', 'Dr_ Jones', 'x'.repeat(230), 'trailing ']
    const here = await accountWith(dovecot, Object.fromEntries(names.map((name) => [name, [{}]])))
    for (const server of [other, picky]) {
      const there = await account(server)
      const { failures, folders, notes } = await migrate(here, there)
      expect(failures).toEqual([])
      const copied = Object.values(await readAt(there)).reduce(
        (sum, stored) => sum + stored.length,
        0,
      )
      expect(copied).toBe(names.length)
      const altered = folders.filter((folder) => folder.altered).map(({ source }) => source)
      expect([...altered, ...notes.map(({ folder }) => folder)]).toEqual(
        expect.arrayContaining(['Dr. Jones', names[2]]),
      )
    }
  })

  it('addresses names in every script by the bytes they were listed with (5)', async () => {
    const names = ['caf\u00e9', 'cafe\u0301', 'R&D', '📬 post']
    const here = await accountWith(dovecot, Object.fromEntries(names.map((name) => [name, [{}]])))
    const there = await account(cyrus)
    expect((await migrate(here, there)).failures).toEqual([])
    expect(Object.keys(await readAt(there))).toEqual(
      expect.arrayContaining(names.map((name) => `INBOX.${name}`)),
    )
  })

  it('copies the children of folders that hold no messages (7), and into folders that exist (8)', async () => {
    const here = await accountWith(dovecot, { 'top/child': [{}] })
    const there = await accountWith(dovecot, { 'top/child': [{}] })
    expect((await migrate(here, there, { folders: ['top', 'top/child'] })).failures).toEqual([])
    expect((await readAt(there))['top/child']).toHaveLength(2)
  })

  it('subscribes to the folders that were subscribed, and no others (13)', async () => {
    const here = await accountWith(dovecot, { Seen: [{}], Unseen: [{}] })
    await inside(accountOn(here.port, here.user), ({ wire }) => wire.run(['UNSUBSCRIBE Unseen']))
    const there = await account(dovecot)
    await migrate(here, there)
    const lines: string[] = []
    await inside(accountOn(there.port, there.user), async ({ wire }) => {
      await wire.run(['LSUB "" "*"'], {
        data: (values) => lines.push(stringOf(values[3]) ?? '') > 0,
      })
    })
    expect(lines).toEqual(['Seen'])
  })

  it('lists messages that Cyrus rejects, and copies the rest (14, 16)', async () => {
    const here = await accountWith(dovecot, {
      INBOX: [
        {},
        { body: 'Subject: nul\r\n\r\na\0b\r\n' },
        { body: 'Subject: eight bit \xe4\r\n\r\nx\r\n' },
        { body: 'no header at all\r\n' },
        { body: 'Subject: header only\r\n\r\n' },
        {},
      ],
    })
    const there = await account(cyrus)
    const { progress, failures } = await migrate(here, there)
    expect(progress.messagesDone).toBe(6)
    const copied = (await readAt(there))['INBOX']?.length ?? 0
    expect(copied + failures.length).toBe(6)
    expect(copied).toBeGreaterThanOrEqual(4)
    for (const failure of failures)
      expect(failure).toMatchObject({ folder: 'INBOX', uid: expect.any(Number), code: 'refused' })
  })

  it('accepts a server that stores bare line endings (15)', async () => {
    const lf = Buffer.from('Subject: lf\n\nbare line feeds\n')
    const here = await accountWith(courier, { INBOX: [{ body: lf }] })
    const there = await account(dovecot)
    expect((await migrate(here, there)).failures).toEqual([])
    expect((await readAt(there))['INBOX']).toHaveLength(1)
  })

  it('copies lines of 200 kB (17) and messages of 20 MB (19) to the byte (20)', async () => {
    const long = Buffer.concat([mail(100), Buffer.alloc(200_000, 'x'), Buffer.from('\r\n')])
    const here = await accountWith(dovecot, { INBOX: [{ body: long }, { body: mail(20_000_000) }] })
    const there = await account(dovecot)
    expect((await migrate(here, there)).failures).toEqual([])
    expect(contents((await readAt(there))['INBOX'])).toEqual(
      contents((await readAt(here))['INBOX']),
    )
  })

  it('copies messages without Message-ID, and equal ones as often as they are there (24)', async () => {
    const same = 'From: a@b\r\nSubject: x\r\n\r\n'
    const date = '01-Jul-2024 08:09:10 +0000'
    const letters = [`${same}one\r\n`, `${same}two\r\n`, `${same}one\r\n`].map((body) => ({
      body,
      date,
    }))
    const here = await accountWith(dovecot, { INBOX: letters })
    const there = await account(dovecot)
    expect((await migrate(here, there, { deduplicate: true })).progress.skippedByDedup).toBe(0)
    expect(contents((await readAt(there))['INBOX'])).toEqual(
      contents((await readAt(here))['INBOX']),
    )
    expect((await migrate(here, there, { deduplicate: true })).progress).toMatchObject({
      skippedByDedup: 3,
      messagesDone: 3,
    })
    expect((await readAt(there))['INBOX']).toHaveLength(3)
  })

  it('skips existing messages, however their Message-ID is written (25)', async () => {
    const written = (id: string) => ({ body: `Subject: x\r\n${id}\r\n\r\nbody ${id.length}\r\n` })
    const here = await accountWith(dovecot, {
      INBOX: [
        written('Message-Id: <one@x.example> (comment)'),
        written('MESSAGE-ID:\r\n <two@x.example>'),
        written('Message-ID: '),
        {},
      ],
    })
    const there = await accountWith(dovecot, {
      INBOX: [written('Message-ID: <one@X.example>'), written('Message-ID: <two@x.example>'), {}],
    })
    const { progress } = await migrate(here, there, { deduplicate: true })
    expect(progress).toMatchObject({ skippedByDedup: 2, messagesDone: 4, errorCount: 0 })
    expect((await readAt(there))['INBOX']).toHaveLength(5)
  })

  it('copies nothing twice when it is run again, with nothing but its journal (26)', async () => {
    const here = await accountWith(dovecot, { INBOX: [{}, {}, {}] })
    const there = await account(dovecot)
    const journal = createMemoryJournal()
    await migrate(here, there, { journal })
    await fill(accountOn(here.port, here.user), { INBOX: [{}] })
    expect((await migrate(here, there, { journal })).progress.messagesDone).toBe(3)
    expect((await readAt(there))['INBOX']).toHaveLength(3)
    expect((await migrate(here, there, { journal, withNewMail: true })).progress.messagesDone).toBe(
      4,
    )
    expect(contents((await readAt(there))['INBOX'])).toEqual(
      contents((await readAt(here))['INBOX']),
    )
  })

  it('sends no flag but the five and keywords that are atoms (27), and nothing of a message is executed (29)', async () => {
    const evil = Buffer.from('Subject: x\r\n\r\nzz1 CREATE INJECTED\r\nzz2 LOGOUT\r\n')
    const flags = [
      '\\Seen',
      '\\Answered',
      '\\Flagged',
      '\\Deleted',
      '\\Draft',
      '$Forwarded',
      'NonJunk',
      'TEST:FLAG211',
    ]
    const here = await accountWith(dovecot, {
      INBOX: [
        { body: evil, flags },
        { body: evil, flags: ['\\Seen'] },
      ],
    })
    const there = await account(dovecot)
    const proxy = await startProxy(dovecot.port, { record: true })
    expect((await migrate(here, { ...there, port: proxy.port })).failures).toEqual([])
    const sent = proxy.recorded('toServer').toString('latin1')
    await proxy.close()
    expect(new Set(sent.match(/\\[A-Za-z]+/g))).toEqual(
      new Set(['\\Seen', '\\Answered', '\\Flagged', '\\Deleted', '\\Draft']),
    )
    const all = await readAt(there)
    expect(Object.keys(all)).toEqual(['INBOX'])
    expect(contents(all['INBOX'])).toEqual(contents((await readAt(here))['INBOX']))
  })

  it('keeps dates to the second (30)', async () => {
    const dates = [
      '01-Jul-2024 08:09:10 +0200',
      '31-Dec-1999 23:59:59 -0930',
      ' 1-Mar-1975 00:00:00 +0000',
    ]
    const here = await accountWith(dovecot, { INBOX: dates.map((date) => ({ date })) })
    const there = await account(cyrus)
    expect((await migrate(here, there)).failures).toEqual([])
    expect(contents((await readAt(there))['INBOX'])).toEqual(
      contents((await readAt(here))['INBOX']),
    )
  })

  it('does not change the source, including \\Recent and unseen messages (32)', async () => {
    const here = await accountWith(dovecot, { INBOX: [{ flags: ['\\Deleted'] }] })
    // \Recent marks messages that arrived while no client had the folder open.
    await inside(accountOn(here.port, here.user), ({ wire }) => wire.run(['APPEND INBOX ', mail()]))
    const counts = () =>
      inside(accountOn(here.port, here.user), async ({ wire }) => {
        let told: unknown
        await wire.run(['STATUS INBOX (MESSAGES RECENT UNSEEN)'], {
          data: (values) => Boolean((told = values[2])),
        })
        return told
      })
    const before = [await counts(), await readAt(here)]
    expect(before[0]).toEqual(['MESSAGES', '2', 'RECENT', '1', 'UNSEEN', '2'])
    await migrate(here, await account(dovecot))
    expect([await counts(), await readAt(here)]).toEqual(before)
  })

  it('matches existing messages when either side assigned new UIDs (35)', async () => {
    const here = await accountWith(dovecot, {
      Box: [{}, {}, { body: 'Subject: nameless\r\n\r\nx\r\n' }],
    })
    const there = await account(dovecot)
    const journal = createMemoryJournal()
    await migrate(here, there, { journal, folders: ['Box'] })
    for (const field of ['sourceUidValidity', 'destinationUidValidity'] as const) {
      const saved = await journal.load('Box')
      if (!saved) throw new Error('no state')
      await journal.save('Box', { ...saved, [field]: 1 }, [])
      const again = await migrate(here, there, { journal, folders: ['Box'] })
      expect(again).toMatchObject({
        state: 'completed',
        progress: { messagesDone: 3, skippedByDedup: 0 },
      })
      expect((await readAt(there))['Box']).toHaveLength(3)
    }
    await inside(accountOn(there.port, there.user), ({ wire }) => wire.run(['DELETE Box']))
    expect(await migrate(here, there, { journal, folders: ['Box'] })).toMatchObject({
      state: 'completed',
    })
    expect((await readAt(there))['Box']).toHaveLength(3)
  })

  it('stops at a full destination with one error, and continues when there is space (36)', async () => {
    const here = await accountWith(dovecot, {
      INBOX: Array.from({ length: 20 }, () => ({ body: mail(20_000) })),
    })
    const tight = await startDovecot({ quota: '200K' })
    const there = await account(tight)
    const { failures, stopped } = await migrate(here, there)
    expect(stopped).toMatchObject({ code: 'over_quota' })
    expect(failures).toHaveLength(1)
    await tight.stop()
  })

  it('copies over all connections, also those that were ready before the folder was open', async () => {
    const signedIn = new Set<number>()
    const body = (uid: number) => Buffer.from(`Message-ID: <${uid}@one.test>\r\n\r\nText\r\n`)
    const source = await startImapAccountFake(
      { INBOX: { count: 4_000, body } },
      undefined,
      ({ name, connection }) => {
        if (name === 'LOGIN') signedIn.add(connection)
        // The folder is open once its messages are listed.
        return name === 'UID SEARCH' ? waitUntilAllAreReady() : undefined
      },
    )
    async function waitUntilAllAreReady(): Promise<void> {
      await expect.poll(() => signedIn.size).toBe(4)
      await sleep(300)
    }
    const there = await account(dovecot)
    expect(await migrate(source, there)).toMatchObject({ state: 'completed', failures: [] })
    const copying = source.commands.filter(({ args }) => args.includes('BODY.PEEK[]'))
    expect(new Set(copying.map(({ connection }) => connection)).size).toBeGreaterThan(1)
    await source.close()
  })

  it('works with fewer connections (38)', async () => {
    const here = await accountWith(dovecot, {
      INBOX: Array.from({ length: 600 }, () => ({ body: mail(300) })),
    })
    const few = await startDovecot({
      extra: 'protocol imap {\n  mail_max_userip_connections = 2\n}',
    })
    const there = await account(few)
    expect(await migrate(here, there)).toMatchObject({ state: 'completed', failures: [] })
    // Dovecot counts a connection for a moment after it has ended, and rejects others meanwhile.
    const letters = () =>
      readAt(there).then(
        ({ INBOX }) => INBOX?.length,
        () => 'no entry',
      )
    await expect.poll(letters).toBe(600)
    await few.stop()
  })

  it('names the side that rejected the sign-in, and tries once (39)', async () => {
    const here = await account(dovecot)
    const began = performance.now()
    const { stopped, state } = await migrate(here, { port: dovecot.port, user: 'nobody' })
    expect([state, stopped?.code]).toEqual(['failed', 'sign_in'])
    expect(performance.now() - began).toBeLessThan(20_000)
    expect((await migrate(here, { port: 1 })).stopped).toMatchObject({
      code: 'upstream_unreachable',
    })
  })

  it('rejects copying a mailbox into itself (45), except under a prefix', async () => {
    const here = await accountWith(dovecot, { INBOX: [{}, {}] })
    expect((await migrate(here, here)).stopped).toMatchObject({ code: 'same_mailbox' })
    expect(await migrate(here, here, { prefix: 'Copy' })).toMatchObject({ state: 'completed' })
    expect((await readAt(here))['Copy/INBOX']).toHaveLength(2)
    expect((await migrate(here, here, { prefix: 'Copy' })).stopped).toMatchObject({
      code: 'same_mailbox',
    })
  })

  it('does not touch mail that arrives at the destination meanwhile (46)', async () => {
    const here = await accountWith(dovecot, {
      INBOX: Array.from({ length: 60 }, () => ({ body: mail(50_000) })),
    })
    const there = await account(dovecot)
    const copying = migrate(here, there)
    await fill(accountOn(there.port, there.user), { INBOX: [{}, {}] })
    expect(await copying).toMatchObject({ state: 'completed' })
    expect((await readAt(there))['INBOX']).toHaveLength(62)
  })

  it('never shows more done than there is, and ends with all (50)', async () => {
    const here = await accountWith(dovecot, {
      INBOX: Array.from({ length: 400 }, () => ({})),
      Sent: [{}],
    })
    const { seen, progress } = await migrate(here, await account(dovecot))
    for (const { messagesDone, messagesTotal } of seen)
      expect(messagesDone).toBeLessThanOrEqual(messagesTotal)
    expect(seen[0]).toMatchObject({ messagesTotal: 401 })
    expect(progress).toMatchObject({
      messagesDone: 401,
      messagesTotal: 401,
      foldersDone: 2,
      currentFolder: '',
    })
  })

  it('reports a folder that is not there, and copies the others', async () => {
    const here = await accountWith(dovecot, { INBOX: [{}] })
    const there = await account(dovecot)
    const { state, failures, progress } = await migrate(here, there, {
      folders: ['Missing', 'INBOX'],
    })
    expect(progress.bytesTotal).toBe(progress.bytesDone)
    expect([state, failures]).toMatchObject([
      'failed',
      [{ folder: 'Missing', uid: null, code: 'no_such_mailbox' }],
    ])
    expect((await readAt(there))['INBOX']).toHaveLength(1)
  })
})
