import { describe, expect, it, onTestFinished } from 'vitest'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { startCourier } from '../servers/courier.ts'
import { startCyrus } from '../servers/cyrus.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, fill, inside, mail, read, type Letter } from './mailbox.ts'
import { migrate } from './run.ts'
import { startTamper } from './tamper.ts'

async function serverWith(start: Promise<MailServer>, letters: Letter[] = []): Promise<MailServer> {
  const server = await start
  onTestFinished(() => server.stop())
  await server.addUser('alice', 'secret')
  await fill(accountOn(server.port), { INBOX: letters })
  return server
}

async function change({ port }: MailServer, ...stores: string[]): Promise<void> {
  await inside(accountOn(port), async ({ wire }) => {
    for (const command of ['SELECT INBOX', ...stores.map((store) => `UID STORE ${store}`)])
      await wire.run([command])
  })
}

const flagsAt = async ({ port }: MailServer) =>
  (await read(accountOn(port)))['INBOX']?.map(({ flags }) => flags)

describe('flags that change at the source between two runs', () => {
  it.each([
    ['a Dovecot', 'a Cyrus', () => startDovecot(), () => startCyrus()],
    ['a Cyrus', 'a Dovecot', () => startCyrus(), () => startDovecot({ layout: 'maildir' })],
  ] as const)('are added to our copies, from %s to %s', async (_, __, startHere, startThere) => {
    const here = await serverWith(startHere(), [{}, {}, { flags: ['\\Flagged'] }, {}])
    const there = await serverWith(startThere())
    const journal = createMemoryJournal()
    const again = async () => migrate(here, there, { journal, withNewMail: true })
    await again()
    await change(here, '1 +FLAGS (\\Seen work)', '2:3 +FLAGS (\\Answered)', '4 +FLAGS (\\Deleted)')
    await fill(accountOn(here.port), { INBOX: [{ flags: ['\\Seen'] }] })
    const second = await again()
    expect(second).toMatchObject({ state: 'completed', progress: { messagesDone: 5 } })
    expect(second.notes).toEqual([
      { folder: 'INBOX', message: expect.stringMatching(/^Flags that 3 messages got/) },
    ])
    const brought = [
      ['\\Seen', 'work'],
      ['\\Answered'],
      ['\\Answered', '\\Flagged'],
      [],
      ['\\Seen'],
    ]
    expect(await flagsAt(there)).toEqual(brought)

    // Flags removed at the source, and flags changed at the destination, stay as they are at the
    // destination.
    await change(here, '2 -FLAGS (\\Answered)', '1 +FLAGS (\\Answered)')
    await change(there, '3 -FLAGS (\\Flagged)', '1 +FLAGS (\\Draft)')
    expect((await again()).notes).toEqual([])
    expect(await flagsAt(there)).toEqual([
      ['\\Draft', '\\Seen', 'work'],
      ['\\Answered'],
      ['\\Answered'],
      [],
      ['\\Seen'],
    ])
    expect((await again()).progress).toMatchObject({ messagesDone: 5, messagesTotal: 5 })
  })

  it('are not added to messages that were there before, or to one of two indistinguishable ones', async () => {
    const twin = { body: mail() }
    const there = await serverWith(startDovecot(), [{ ...twin, flags: [] }])
    const here = await serverWith(startDovecot(), [twin, { body: mail() }])
    const journal = createMemoryJournal()
    await migrate(here, there, { journal, withNewMail: true, deduplicate: true })
    const copied = (await flagsAt(there))?.length
    await change(here, '1:2 +FLAGS (\\Seen)')
    await migrate(here, there, { journal, withNewMail: true, deduplicate: true })
    expect([copied, await flagsAt(there)]).toEqual([2, [[], ['\\Seen']]])

    const other = await serverWith(startDovecot(), [twin, twin])
    const empty = await serverWith(startDovecot())
    const memory = createMemoryJournal()
    await migrate(other, empty, { journal: memory, withNewMail: true })
    await change(other, '1 +FLAGS (\\Seen)')
    expect(await migrate(other, empty, { journal: memory, withNewMail: true })).toMatchObject({
      state: 'completed',
    })
    expect(await flagsAt(empty)).toEqual([[], []])
  })

  it('do not fail the migration when the destination rejects them', async () => {
    const here = await serverWith(startDovecot(), [{}])
    const there = await serverWith(startDovecot())
    const strict = await startTamper(there.port, {
      toServer(text, { answer }) {
        const tag = /^(P\d+) UID STORE/.exec(text)?.[1]
        if (tag) answer(`${tag} NO [NOPERM] not yours`)
      },
    })
    onTestFinished(() => strict.close())
    const journal = createMemoryJournal()
    await migrate(here, strict, { journal, withNewMail: true })
    await change(here, '1 +FLAGS (\\Seen)')
    const { state, notes } = await migrate(here, strict, { journal, withNewMail: true })
    expect([state, notes]).toMatchObject([
      'completed',
      [{ message: expect.stringContaining('not yours') }],
    ])
  })

  it('are added to the copies that are left when another client expunges some of them (RFC 2180, 4.2)', async () => {
    const here = await serverWith(startDovecot(), [{}, {}, {}])
    const there = await serverWith(startDovecot())
    let refused = 0
    const busy = await startTamper(there.port, {
      toServer(text, { answer }) {
        const tag = /^(P\d+) UID STORE/.exec(text)?.[1]
        if (tag && (refused += 1) === 1)
          answer(`${tag} NO Some of the requested messages no longer exist.`)
      },
    })
    onTestFinished(() => busy.close())
    const journal = createMemoryJournal()
    await migrate(here, busy, { journal, withNewMail: true })
    await change(here, '1:3 +FLAGS (\\Seen)')
    const { state, notes } = await migrate(here, busy, { journal, withNewMail: true })
    expect([state, notes]).toMatchObject([
      'completed',
      [{ message: expect.stringMatching(/^Flags that 3 messages/) }],
    ])
    expect([refused, await flagsAt(there)]).toEqual([2, [['\\Seen'], ['\\Seen'], ['\\Seen']]])
  })

  it('stay behind where the source does not count its changes', async () => {
    const here = await serverWith(startCourier(), [{}])
    const there = await serverWith(startDovecot())
    const journal = createMemoryJournal()
    expect(await migrate(here, there, { journal, withNewMail: true })).toMatchObject({
      state: 'completed',
      progress: { messagesDone: 1 },
    })
    await change(here, '1 +FLAGS (\\Seen)')
    expect(await migrate(here, there, { journal, withNewMail: true })).toMatchObject({
      state: 'completed',
      notes: [],
    })
    expect(await flagsAt(there)).toEqual([[]])
  })
})
