import { afterEach, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { deleteMessages } from '../../src/migration/deletion/delete-messages.ts'
import { makeProof } from '../../src/migration/proof/make-proof.ts'
import { blankFolder } from '../../src/migration/engine/journal/journal.ts'
import { readSourceDigest } from '../../src/migration/sync/checks/check-source.ts'
import { startImapMailboxFake, type Fault } from '../servers/imap-mailbox-fake.ts'
import {
  HONEST,
  newMessage,
  startImapModel,
  type ImapModel,
  type Mischief,
} from '../servers/imap-model.ts'
import { accountOn } from './mailbox.ts'
import { waitTimes } from './run.ts'

const { signal } = new AbortController()

const started: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.close()))
})

/** A mailbox with so many messages, and its copy. */
async function copied(count: number) {
  const messages = Array.from({ length: count }, (_, index) => newMessage(`mail ${index}`))
  const sides = [
    await startImapModel({ INBOX: messages }),
    await startImapModel({ INBOX: messages }),
  ]
  started.push(...sides)
  return sides as [ImapModel, ImapModel]
}

/** EXISTS, STATUS and FETCH leave one message out; only SEARCH has it. */
const HIDES_ONE: Mischief = {
  ...HONEST,
  exists: -1,
  status: -1,
  fetch: { omits: 4, addsOther: false, times: 1_000 },
}

const inbox = ({ folders }: ImapModel) => folders.get('INBOX')?.messages ?? []

describe('deletions after a copy', () => {
  const remove = (source: ImapModel, destination: ImapModel, atSource: boolean) =>
    deleteMessages({
      source: accountOn(source.port),
      destination: accountOn(destination.port),
      folders: [{ source: 'INBOX', destination: 'INBOX', altered: false, inTheWay: null }],
      deletions: {
        copiedAtSource: atSource,
        removeAtSource: true,
        unknownAtDestination: !atSource,
        duplicatesAtDestination: false,
      },
      signal,
    })

  it('keep what only one way of listing has at the source', async () => {
    const [source, destination] = await copied(4)
    source.behave(HIDES_ONE)
    await remove(source, destination, false)
    expect(inbox(destination)).toHaveLength(4)
  })

  it('do not begin where the source claims to have more than it lists', async () => {
    const [source, destination] = await copied(4)
    inbox(source).splice(1, 1)
    source.behave({ ...HONEST, status: 1 })
    await expect(remove(source, destination, false)).rejects.toThrow('Nothing was deleted')
    expect(inbox(destination)).toHaveLength(4)
  })

  it('delete no other message at the source, whenever it assigns new UIDs', async () => {
    for (let at = 4; at <= 16; at++) {
      const [source, destination] = await copied(5)
      // Then a new UID is that of the next message.
      inbox(source).shift()
      const [, only] = inbox(source)
      inbox(destination).splice(2, 1)
      source.behave({ ...HONEST, events: [{ at, does: 'renumber' }] })
      await remove(source, destination, true).catch(() => undefined)
      expect(inbox(source), `command ${at}`).toContain(only)
    }
  })
})

describe('a proof', () => {
  const prove = (source: { port: number }, destination: { port: number }) => {
    const state = blankFolder({
      destination: 'INBOX',
      sourceUidValidity: 1,
      destinationUidValidity: 1,
      sourceModseq: null,
      sourceUidNext: 5,
      destinationUidNext: 1,
    })
    const side = (port: number) => ({ host: 'localhost', port, user: 'alice', signIn: 'password' })
    return makeProof({
      about: {
        migration: { id: 'x', startedAt: null, endedAt: null },
        source: side(source.port),
        destination: side(destination.port),
      } as never,
      source: { account: accountOn(source.port) },
      destination: { account: accountOn(destination.port) },
      level: 'headers',
      folders: 'all',
      states: new Map([['INBOX', state]]),
      signal,
      log: createLog('silent'),
      waitTimes: {
        ...waitTimes,
        reconnectMs: { first: 1, most: 5 },
        slowDownMs: { first: 1, most: 5 },
      },
      onRead: () => undefined,
      onCounted: () => undefined,
      historyOf: async (folder) => ({
        state: folder === 'INBOX' ? state : null,
        copies: Buffer.alloc(0),
        failures: [],
      }),
      deletions: [],
      notes: [],
      allMailOnce: false,
    })
  }

  it('is incomplete where only one way of listing has a message of the source', async () => {
    const [source, destination] = await copied(4)
    expect(await prove(source, destination)).toMatchObject({ verdict: 'identical' })
    source.behave(HIDES_ONE)
    expect(await prove(source, destination)).toMatchObject({ verdict: 'incomplete' })
    source.behave({ ...HONEST, status: 2 })
    expect(await prove(source, destination)).toMatchObject({
      verdict: 'incomplete',
      missing: [{ reason: 'not_listed', messages: 2 }],
    })
  })

  it('is not made of all folders where the source refuses to list them', async () => {
    const faults = ['LIST', 'LSUB'].map((text): Fault => ({ at: 'command', text, answer: 'NO No' }))
    const [source, destination] = await Promise.all([
      startImapMailboxFake({ folders: { INBOX: 2, Later: 3 }, faults }),
      startImapMailboxFake({ folders: { INBOX: 2 } }),
    ])
    started.push(source, destination)
    await expect(prove(source, destination)).rejects.toThrow('refuses to list its folders')
  })

  it('does not count what arrives while it is made', async () => {
    const [source, destination] = await copied(4)
    for (let at = 4; at <= 16; at += 2) {
      source.behave({ ...HONEST, events: [{ at, does: 'receive' }] })
      const { missing, verdict } = await prove(source, destination)
      expect(
        missing.every(({ reason }) => reason === 'not_copied_yet'),
        verdict,
      ).toBe(true)
      inbox(source).splice(4)
    }
  })

  it.each(['NO [NOPERM] No', 'BYE Internal error', 'close'])(
    'says that a folder of the source was not read that answers %s',
    async (answer) => {
      const folders = { INBOX: 2, Later: 3 }
      const faults: Fault[] = [
        { at: 'status', folder: 'Later', answer },
        { at: 'open', folder: 'Later', answer },
      ]
      const source = await startImapMailboxFake({ folders, faults })
      const destination = await startImapMailboxFake({ folders })
      started.push(source, destination)
      expect(await prove(source, destination)).toMatchObject({
        verdict: 'incomplete',
        missing: [{ reason: 'not_listed', messages: 1 }],
        totals: { kept: { messages: 2 } },
      })
    },
  )
})

describe('the digest of a source', () => {
  const digestOf = ({ port }: { port: number }) =>
    readSourceDigest({ account: accountOn(port) }, [], signal)

  it('is missing where an answer leaves messages out: they may have changed', async () => {
    const [source] = await copied(4)
    const whole = await digestOf(source)
    expect(whole).toBeTypeOf('string')
    expect(await digestOf(source)).toBe(whole)
    source.behave({ ...HONEST, fetch: HIDES_ONE.fetch })
    expect(await digestOf(source)).toBeNull()
  })

  it.each(['status', 'open'] as const)(
    'is missing where the connection ends at a folder (%s)',
    async (at) => {
      const faults: Fault[] = [{ at, folder: 'Later', answer: 'close' }]
      const source = await startImapMailboxFake({ folders: { INBOX: 2, Later: 3 }, faults })
      started.push(source)
      expect(await digestOf(source)).toBeNull()
    },
  )
})
