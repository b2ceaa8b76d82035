import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createAppender,
  type AppenderOptions,
  type AppendMessage,
} from '../../../src/net/imap/append/append.ts'
import type { AppendOutcome } from '../../../src/net/imap/append/append-outcome.ts'
import { createFolder } from '../../../src/net/imap/folders/create-folder.ts'
import { fetchBodies } from '../../../src/net/imap/fetch/fetch-bodies.ts'
import { fetchMetadata, type Metadata } from '../../../src/net/imap/fetch/fetch-metadata.ts'
import { listFolders } from '../../../src/net/imap/folders/list-folders.ts'
import { examine, select } from '../../../src/net/imap/folders/mailbox.ts'
import type { Session } from '../../../src/net/imap/connection/imap-session.ts'
import { startCourier } from '../../servers/courier.ts'
import { startCyrus } from '../../servers/cyrus.ts'
import { startDovecot } from '../../servers/dovecot.ts'
import type { MailServer } from '../../servers/mail-server.ts'
import { startProxy } from '../../servers/proxy.ts'
import { mail, outgoing, signInTo } from './account.ts'

const LITERAL_MINUS = 'IMAP4rev1 LITERAL- UIDPLUS NAMESPACE SPECIAL-USE'

const SERVERS: { name: string; start: () => Promise<MailServer>; mode: string; options?: Partial<AppenderOptions> }[] = [
  { name: 'Dovecot', start: startDovecot, mode: 'multiappend' },
  { name: 'Dovecot, one by one', start: startDovecot, mode: 'pipelined', options: { singly: true } },
  { name: 'Dovecot with LITERAL-', start: () => startDovecot({ capability: LITERAL_MINUS }), mode: 'pipelined' },
  { name: 'Dovecot with Maildir', start: () => startDovecot({ layout: 'maildir', separator: '.', prefix: 'INBOX.' }), mode: 'multiappend' },
  { name: 'Cyrus', start: startCyrus, mode: 'multiappend' },
  { name: 'Cyrus, asking before every literal', start: startCyrus, mode: 'multiappend', options: { synchronising: true } },
  { name: 'Courier', start: startCourier, mode: 'chained' },
] // prettier-ignore

/** Servers differ in which messages they accept. All of them accept these. */
const MESSAGES: AppendMessage[] = [
  outgoing(mail('first'), ['\\Seen', '$Forwarded'], ' 1-Jul-2024 08:09:10 +0200'),
  outgoing(
    mail('second'),
    ['\\seen', '\\FLAGGED', '\\Recent', '\\Junk'],
    '31-Feb-2001 25:61:06 +0000',
  ),
  outgoing(
    mail('at-the-limit', 'x'.repeat(70).concat('\r\n').repeat(56)),
    ['\\Draft'],
    '29-Feb-2024 23:00:00 -0700',
  ),
  outgoing(
    mail('over-the-limit', 'x'.repeat(70).concat('\r\n').repeat(60)),
    ['\\Deleted', 'k:1'],
    ' 5-Mar-1984 01:02:03 +0000',
  ),
  outgoing(
    mail('many', 'zz1 CREATE INJECTED\r\n'.repeat(3000)),
    ['\\Answered', '\\Foo', 'a b', 'NIL'],
    'nonsense',
  ),
]

describe.each(SERVERS)('appending to $name', ({ start, mode, options = {} }) => {
  let server: MailServer
  let session: Session
  let folder = 'Copies'

  beforeAll(async () => {
    server = await start()
    await server.addUser('alice', 'secret')
    session = await signInTo(server.port)
    folder = `${session.namespace?.prefix ?? ''}Copies`
    await createFolder(session.wire, folder)
  })
  afterAll(async () => {
    await session.wire.logout()
    await server.stop()
  })

  async function append(batch: AppendMessage[]): Promise<AppendOutcome[]> {
    const { permanentFlags } = await select(session.wire, folder)
    const appender = createAppender(session.wire, folder, { permanentFlags, ...options })
    expect(appender.mode).toBe(mode)
    return (await appender.submit(batch)).outcomes
  }

  async function scan(): Promise<Metadata[]> {
    await examine(session.wire, folder)
    const rows: Metadata[] = []
    for await (const row of fetchMetadata(session.wire, 1, 1000)) rows.push(row)
    return rows
  }

  it('keeps bytes, flags, keywords and dates, and returns the UIDs', async () => {
    const outcomes = await append(MESSAGES)
    expect(outcomes.map((outcome) => [outcome.state, 'uid' in outcome && outcome.uid])).toEqual([1, 2, 3, 4, 5].map((uid) => ['stored', uid])) // prettier-ignore
    const rows = await scan()
    expect(rows.map(({ flags }) => flags.filter((flag) => flag !== '\\Recent').toSorted())).toEqual(
      [
        ['$Forwarded', '\\Seen'],
        ['\\Flagged', '\\Seen'],
        ['\\Draft'],
        ['\\Deleted', 'k:1'],
        ['\\Answered'],
      ],
    )
    const instants = rows.map(({ internalDate }) => Date.parse(internalDate ?? ''))
    expect(instants[0]).toBe(Date.UTC(2024, 6, 1, 6, 9, 10))
    expect(instants[2]).toBe(Date.UTC(2024, 2, 1, 6, 0, 0))
    expect(instants[3]).toBe(Date.UTC(1984, 2, 5, 1, 2, 3))
    expect(Math.abs((instants[1] ?? 0) - Date.now())).toBeLessThan(60_000)
    const bodies = new Map<number, Buffer>()
    for await (const row of fetchBodies(session.wire, rows)) {
      if (row.state === 'here' && Buffer.isBuffer(row.body)) bodies.set(row.uid, row.body)
    }
    expect(
      MESSAGES.map(({ body }, index) => bodies.get(index + 1)?.equals(body as Buffer)),
    ).toEqual(MESSAGES.map(() => true))
  })

  it('never lets a server execute a part of a message (case 29)', async () => {
    const { folders } = await listFolders(session)
    expect(folders.map(({ name }) => name).toSorted()).toEqual(['Copies', 'INBOX'])
    expect(session.wire.lost).toBeNull()
  })

  it('rejects one message of a batch and accepts the others (case 18)', async () => {
    const outcomes = await append([
      outgoing(mail('a')),
      outgoing(Buffer.alloc(0)),
      outgoing(mail('b')),
    ])
    expect([outcomes[0]?.state, outcomes[2]?.state]).toEqual(['stored', 'stored'])
  })

  it('streams a large message through, byte for byte (case 19)', async () => {
    const line = Buffer.from(`${'0123456789'.repeat(7)}\r\n`)
    const lines = 60_000
    const hash = createHash('sha256')
    async function* body(): AsyncGenerator<Buffer> {
      yield mail('large', '')
      for (let at = 0; at < lines; at += 1000)
        yield Buffer.concat(Array.from({ length: 1000 }, () => line))
    }
    for await (const chunk of body()) hash.update(chunk)
    const size = mail('large', '').length + lines * line.length
    const [outcome] = await append([{ size, body: body(), flags: [], internalDate: null }])
    const uid = outcome?.state === 'stored' ? outcome.uid : null
    expect(uid).not.toBeNull()
    await examine(session.wire, folder)
    const arrived = createHash('sha256')
    for await (const row of fetchBodies(session.wire, [{ uid: uid ?? 0, size }])) {
      if (row.state !== 'here' || Buffer.isBuffer(row.body)) throw new Error('it did not stream')
      expect(row.size).toBe(size)
      for await (const chunk of row.body) arrived.update(chunk)
    }
    expect(arrived.digest('hex')).toBe(hash.digest('hex'))
  })
})

describe('Cyrus and Dovecot with unusual messages', () => {
  it.each([
    ['a NUL (case 14)', mail('nul', 'a\0b\r\n'), { dovecot: 'stored', cyrus: 'stored' }],
    ['bare line feeds (case 15)', Buffer.from('Subject: bare\n\nbody\n'), { dovecot: 'stored', cyrus: 'refused' }],
    ['8-bit headers (case 16)', Buffer.from('From: a@b\r\nSubject: \xe4\xf6\r\n\r\nx\r\n', 'latin1'), { dovecot: 'stored', cyrus: 'stored' }],
    ['a line of 200 kB (case 17)', mail('long', `${'x'.repeat(200_000)}\r\n`), { dovecot: 'stored', cyrus: 'stored' }],
    ['nothing at all (case 18)', Buffer.alloc(0), { dovecot: 'refused', cyrus: 'refused' }],
  ] as const)('%s costs at most that message', async (_, body, expected) => {
    for (const [name, start] of [['dovecot', startDovecot], ['cyrus', startCyrus]] as const) {
      const server = await start()
      try {
        await server.addUser('alice', 'secret')
        const { wire } = await signInTo(server.port)
        const { permanentFlags } = await select(wire, 'INBOX')
        const appender = createAppender(wire, 'INBOX', { permanentFlags })
        const { outcomes } = await appender.submit([outgoing(mail('before')), outgoing(body), outgoing(mail('after'))])
        expect((await outcomes).map(({ state }) => state), name).toEqual(['stored', expected[name], 'stored'])
        await wire.logout()
      } finally {
        await server.stop()
      }
    }
  }) // prettier-ignore
})

describe('a connection that is cut while appending', () => {
  it('reports acknowledged, unknown and unsent messages (case 34)', async () => {
    const server = await startDovecot()
    const proxy = await startProxy(server.port)
    try {
      await server.addUser('alice', 'secret')
      for (const bytes of [2_000, 60_000, 200_000, 333_333]) {
        proxy.cutAfter('toServer', bytes)
        const { wire } = await signInTo(proxy.port)
        const { exists, permanentFlags } = await select(wire, 'INBOX')
        const appender = createAppender(wire, 'INBOX', { permanentFlags, singly: true })
        // More than socket buffers hold, or a busy machine could send all of it before the cut.
        const batch = Array.from({ length: 150 }, (_, index) =>
          outgoing(mail(`cut-${bytes}-${index}`, 'y'.repeat(78).concat('\r\n').repeat(1_000))),
        )
        const states = (await (await appender.submit(batch)).outcomes).map(({ state }) => state)
        const count = (wanted: string) => states.filter((state) => state === wanted).length
        expect(count('unsent')).toBeGreaterThan(0)
        expect(count('refused')).toBe(0)
        expect(states.toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))).toEqual(states)
        const again = await signInTo(server.port)
        const there = (await select(again.wire, 'INBOX')).exists - exists
        expect(there).toBeGreaterThanOrEqual(count('stored'))
        expect(there).toBeLessThanOrEqual(count('stored') + count('unknown'))
        await again.wire.logout()
      }
    } finally {
      await proxy.close()
      await server.stop()
    }
  })
})

const ORDER = ['stored', 'unknown', 'unsent']
