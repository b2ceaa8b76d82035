import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { startCyrus } from '../servers/cyrus.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startImapAccountFake, type FakeFolder } from '../servers/imap-account-fake.ts'
import type { ImapFake } from '../servers/imap-fake.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, fill, inside, mail, read } from './mailbox.ts'
import { migrate } from './run.ts'

/** Labels of Gmail's and of the user's, and the messages they are on; All Mail has all but spam. */
const LABELS = {
  INBOX: [1, 2, 3],
  Work: [2, 3, 4],
  '[Gmail]/Sent Mail': [5],
  '[Gmail]/All Mail': [1, 2, 3, 4, 5, 6, 7],
}
const FLAGS: Record<string, string> = {
  '[Gmail]/Sent Mail': '\\HasNoChildren \\Sent',
  '[Gmail]/All Mail': '\\HasNoChildren \\All',
}

function labelled(label: string, messages: readonly number[]): FakeFolder {
  const of = (uid: number) => messages[uid - 1] ?? 0
  return {
    flags: FLAGS[label] ?? '\\HasNoChildren',
    count: messages.length,
    body: (uid) =>
      Buffer.from(
        `Subject: ${of(uid)}\r\nMessage-ID: <${of(uid)}@gmail.test>\r\n\r\nMessage ${of(uid)}\r\n`,
      ),
    also: (uid) => `X-GM-MSGID ${1_278_455_344_230_334_000n + BigInt(of(uid))}`,
  }
}

describe('a migration from Gmail (47)', () => {
  let gmail: ImapFake
  let to: MailServer
  let users = 0

  beforeAll(async () => {
    const folders = Object.entries(LABELS).map(
      ([label, messages]) => [label, labelled(label, messages)] as const,
    )
    gmail = await startImapAccountFake(
      Object.fromEntries(folders),
      'IMAP4rev1 UIDPLUS X-GM-EXT-1 SPECIAL-USE',
    )
    to = await startDovecot()
  })
  afterAll(async () => {
    await gmail.close()
    await to.stop()
  })

  async function newAccount(): Promise<{ port: number; user: string }> {
    const user = `user${(users += 1)}`
    await to.addUser(user, 'secret')
    return { port: to.port, user }
  }
  async function countsAt({
    port,
    user,
  }: {
    port: number
    user: string
  }): Promise<Record<string, number>> {
    const folders = Object.entries(await read(accountOn(port, user)))
    return Object.fromEntries(folders.map(([path, stored]) => [path, stored.length]))
  }

  it('copies a message from every folder, and warns that All Mail contains it again', async () => {
    const there = await newAccount()
    const { state, progress } = await migrate(gmail, there)
    expect([state, progress.messagesDone, progress.warnings]).toEqual([
      'completed',
      14,
      [
        {
          code: 'all_mail',
          folder: '[Gmail]/All Mail',
          message: expect.stringContaining('allMailOnce'),
        },
      ],
    ])
    expect(await countsAt(there)).toEqual({
      INBOX: 3,
      Work: 3,
      '[Gmail]/Sent Mail': 1,
      '[Gmail]/All Mail': 7,
    })
  })

  it('skips in All Mail only messages that INBOX, a label or another folder has', async () => {
    const there = await newAccount()
    const { state, progress, seen } = await migrate(gmail, there, { allMailOnce: true })
    expect([state, progress.warnings]).toEqual(['completed', []])
    expect(progress).toMatchObject({ messagesDone: 14, messagesTotal: 14, skippedByDedup: 5 })
    expect(await countsAt(there)).toEqual({
      INBOX: 3,
      Work: 3,
      '[Gmail]/Sent Mail': 1,
      '[Gmail]/All Mail': 2,
    })
    // All Mail starts only after the other folders are certain.
    const begun = seen.filter(({ currentFolder }) => currentFolder === '[Gmail]/All Mail')
    expect(begun.every(({ foldersDone }) => foldersDone === 3)).toBe(true)
  })

  it('copies out of All Mail whatever belongs to a folder that was not asked for', async () => {
    const there = await newAccount()
    const folders = ['INBOX', '[Gmail]/All Mail']
    expect(await migrate(gmail, there, { allMailOnce: true, folders })).toMatchObject({
      state: 'completed',
    })
    expect(await countsAt(there)).toEqual({ INBOX: 3, '[Gmail]/All Mail': 4 })
  })

  it('copies nothing twice when it continues, and nothing that it skipped', async () => {
    const there = await newAccount()
    const journal = createMemoryJournal()
    await migrate(gmail, there, { allMailOnce: true, journal })
    const again = await migrate(gmail, there, { allMailOnce: true, journal, withNewMail: true })
    expect(again.progress).toMatchObject({ messagesDone: 14, skippedByDedup: 5 })
    expect(await countsAt(there)).toEqual({
      INBOX: 3,
      Work: 3,
      '[Gmail]/Sent Mail': 1,
      '[Gmail]/All Mail': 2,
    })
  })

  it('does the same with a real server with OBJECTID (RFC 8474)', async () => {
    const cyrus = await startCyrus({ altNamespace: true, separator: '/' })
    try {
      await cyrus.addUser('alice', 'secret')
      const both = { body: mail(500) }
      await fill(accountOn(cyrus.port), { INBOX: [both, {}] })
      await inside(accountOn(cyrus.port), ({ wire }) =>
        wire.run(['CREATE Everything (USE (\\All))']),
      )
      await fill(accountOn(cyrus.port), { Everything: [both, {}, {}] })
      const there = await newAccount()
      expect(await migrate(cyrus, there, { allMailOnce: true })).toMatchObject({
        state: 'completed',
        failures: [],
      })
      expect(await countsAt(there)).toEqual({ INBOX: 2, Everything: 2 })
    } finally {
      await cyrus.stop()
    }
  })
})
