import { duplexPair, type Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAppender } from '../../../src/net/imap/append/append.ts'
import { fetchBodies, type FetchResult } from '../../../src/net/imap/fetch/fetch-bodies.ts'
import { fetchMetadata } from '../../../src/net/imap/fetch/fetch-metadata.ts'
import { examine, searchUids, select, readStatus } from '../../../src/net/imap/folders/mailbox.ts'
import { noop } from '../../../src/net/imap/fetch/retry-after-expunges.ts'
import { ImapLost, ImapRefused } from '../../../src/net/imap/connection/refusals.ts'
import { createWire, type Wire } from '../../../src/net/imap/connection/wire.ts'
import { startDovecot } from '../../servers/dovecot.ts'
import { startImapFake, type FakeOptions, type ImapFake } from '../../servers/imap-fake.ts'
import { startProxy } from '../../servers/proxy.ts'
import { mail, outgoing, signInTo } from './account.ts'

async function fakeWire(options: FakeOptions): Promise<{ fake: ImapFake; wire: Wire }> {
  const fake = await startImapFake(options)
  onTestFinished(() => fake.close())
  const { wire } = await signInTo(fake.port)
  return { fake, wire }
}

/** Milliseconds that `shortWire` bears without anything that belongs to an answer. */
const STANDSTILL = 400

function shortWire(silenceMs = 5_000): { wire: Wire; theirs: Duplex } {
  const [ours, theirs] = duplexPair()
  theirs.resume()
  return {
    wire: createWire(ours, { capabilities: [], silenceMs, standstillMs: STANDSTILL }),
    theirs,
  }
}

/** @returns how to end it before the test ends */
function repeatedly(milliseconds: number, act: () => void): () => void {
  const timer = setInterval(act, milliseconds)
  const stop = () => clearInterval(timer)
  onTestFinished(stop)
  return stop
}

async function bodiesOf(
  wire: Wire,
  uids: number[],
  size: number | null = null,
): Promise<FetchResult[]> {
  const rows: FetchResult[] = []
  for await (const row of fetchBodies(
    wire,
    uids.map((uid) => ({ uid, size })),
  ))
    rows.push(row)
  return rows
}

const textOf = (row: FetchResult) =>
  `${row.uid} ${row.state === 'here' ? (row.body as Buffer).toString() : row.state}`

async function* brokenOff(): AsyncGenerator<Buffer> {
  yield Buffer.alloc(1000, 'x')
  throw new Error('the source is gone')
}

describe('fetching', () => {
  it('accepts attributes in any order, and unsolicited responses (case 21)', async () => {
    const { wire } = await fakeWire({
      script({ name, args }, reply) {
        if (name !== 'UID FETCH') return false
        reply.say('* 9 EXISTS', '* 2 FETCH (FLAGS (\\Seen) UID 3)', '* 3 EXPUNGE')
        if (args.startsWith('1:3')) {
          reply.raw('* 2 FETCH (BODY[] {5}\r\nthree UID 3)\r\n* 1 FETCH (UID 1 BODY[] "one")\r\n')
          reply.say('* 5 FETCH (FLAGS ())', '* OK still here')
        }
        reply.ok()
        return true
      },
    })
    expect((await bodiesOf(wire, [1, 2, 3])).map(textOf)).toEqual(['3 three', '1 one', '2 gone'])
  })

  it('marks rejected messages one by one, and fetches the others (cases 22 and 23)', async () => {
    const { wire } = await fakeWire({
      script({ name, args }, reply) {
        if (name !== 'UID FETCH') return false
        const uid = args.split(' ')[0]
        if (args.endsWith('(UID RFC822.SIZE)')) {
          reply.say('* 2 FETCH (UID 2 RFC822.SIZE 3)', '* 4 FETCH (UID 4 RFC822.SIZE 4)')
          reply.ok()
          return true
        }
        if (uid === '1:4') reply.say('* 1 FETCH (UID 1 BODY[] "one")')
        if (uid === '1:4' || uid === '2') reply.no('Some error while reading')
        else if (uid === '3') reply.ok()
        else {
          reply.say(`* 4 FETCH (UID 4 BODY[] "four")`)
          reply.ok()
        }
        return true
      },
    })
    const rows = await bodiesOf(wire, [1, 2, 3, 4])
    expect(rows.map(textOf)).toEqual(['1 one', '2 refused', '3 gone', '4 four'])
  })

  it('reads a literal8 byte for byte, NUL and all (case 14)', async () => {
    const bytes = Buffer.from('Subject: x\r\n\r\n\0\0)\r\n* 9 FETCH\0')
    const { wire } = await fakeWire({
      script({ name }, reply) {
        if (name !== 'UID FETCH') return false
        reply.raw(`* 1 FETCH (UID 5 BODY[] ~{${bytes.length}}\r\n`)
        reply.raw(bytes)
        reply.raw(')\r\n')
        reply.ok()
        return true
      },
    })
    const [row] = await bodiesOf(wire, [5])
    expect(row?.state === 'here' && Buffer.isBuffer(row.body) && row.body.equals(bytes)).toBe(true)
    await wire.logout()
  })

  it('gives each body memory of its own, so that it can be freed once the body was sent', async () => {
    const bytes = Buffer.from(`Subject: x\r\n\r\n${'x'.repeat(10_000)}`)
    const { wire } = await fakeWire({
      script({ name }, reply) {
        if (name !== 'UID FETCH') return false
        for (const uid of [5, 6]) {
          reply.raw(`* ${uid} FETCH (UID ${uid} BODY[] {${bytes.length}}\r\n`)
          reply.raw(bytes)
          reply.raw(')\r\n')
        }
        reply.ok()
        return true
      },
    })
    const bodies = (await bodiesOf(wire, [5, 6])).map((row) =>
      row.state === 'here' ? row.body : null,
    )
    expect(bodies.map((body) => Buffer.isBuffer(body) && body.buffer.byteLength)).toEqual([
      bytes.length,
      bytes.length,
    ])
    await wire.logout()
  })

  it('fetches an empty body again (case 18)', async () => {
    let asked = 0
    const { wire } = await fakeWire({
      script({ name }, reply) {
        if (name !== 'UID FETCH') return false
        asked += 1
        reply.say(asked === 1 ? '* 1 FETCH (UID 7 BODY[] NIL)' : '* 1 FETCH (UID 7 BODY[] "here")')
        reply.ok()
        return true
      },
    })
    expect((await bodiesOf(wire, [7])).map(textOf)).toEqual(['7 here'])
  })

  it('does not attribute a rate limit to a message (case 37)', async () => {
    const { wire } = await fakeWire({
      script({ name }, reply) {
        if (name === 'UID FETCH')
          reply.no('Request is throttled. Suggested Backoff Time: 4000 milliseconds')
        return name === 'UID FETCH'
      },
    })
    const error: unknown = await bodiesOf(wire, [1, 2]).catch((thrown: unknown) => thrown)
    expect(error instanceof ImapRefused && error.refusal.retryAfterMs).toBe(4000)
  })

  it('ends a streamed body with an error when the connection is cut inside it, or another UID follows it', async () => {
    const { wire } = await fakeWire({
      script({ name, args }, reply) {
        if (name !== 'UID FETCH') return false
        reply.raw('* 1 FETCH (BODY[] {3000000}\r\n')
        if (args.startsWith('1 '))
          reply.raw(Buffer.concat([Buffer.alloc(3_000_000, 'x'), Buffer.from(' UID 9)\r\n')]))
        else reply.hangUp()
        if (args.startsWith('1 ')) reply.ok()
        return true
      },
    })
    for (const uid of [1, 2]) {
      const read = async () => {
        for await (const row of fetchBodies(wire, [{ uid, size: 3_000_000 }])) {
          if (row.state === 'here' && !Buffer.isBuffer(row.body)) for await (const _ of row.body);
        }
      }
      await expect(read()).rejects.toBeInstanceOf(ImapLost)
    }
  })

  it('scans sparse and dense mailboxes in ranges, and unfolds Message-IDs (cases 25 and 44)', async () => {
    const uids = [5, 6, 7, 100_000, 3_000_000_000, 4_294_967_294]
    const { wire, fake } = await fakeWire({
      script({ name, args }, reply) {
        if (name !== 'UID FETCH') return false
        const [from = 0, to = 0] = (args.split(' ')[0] ?? '').split(':').map(Number)
        const header = 'Message-Id:\r\n <a@b> (c)\r\n\r\n'
        for (const uid of uids.filter((each) => each >= from && each <= to)) {
          reply.raw(
            `* 1 FETCH (FLAGS () UID ${uid} BODY[HEADER.FIELDS (MESSAGE-ID)] {${header.length}}\r\n${header})\r\n`,
          )
        }
        reply.ok()
        return true
      },
    })
    const rows = []
    for await (const row of fetchMetadata(wire, 1, 4_294_967_294)) rows.push(row)
    expect(rows.map(({ uid }) => uid)).toEqual(uids)
    expect(rows[0]).toEqual({
      uid: 5,
      flags: [],
      internalDate: null,
      size: null,
      messageIds: ['<a@b> (c)'],
      objectId: null,
    })
    expect(fake.lines.filter((line) => line.includes('UID FETCH')).length).toBeLessThan(30)
  })

  it('does not change the source (case 32)', async () => {
    const server = await startDovecot()
    onTestFinished(() => server.stop())
    await server.addUser('alice', 'secret')
    const writing = await signInTo(server.port)
    const { permanentFlags } = await select(writing.wire, 'INBOX')
    const appender = createAppender(writing.wire, 'INBOX', { permanentFlags })
    await (
      await appender.submit([outgoing(mail('a')), outgoing(mail('b'), ['\\Flagged'])])
    ).outcomes
    await writing.wire.logout()
    const flags: string[][] = []
    for (let run = 0; run < 2; run++) {
      const { wire } = await signInTo(server.port)
      await examine(wire, 'INBOX')
      for await (const row of fetchMetadata(wire, 1, 2)) flags.push(row.flags)
      expect((await bodiesOf(wire, [1, 2])).map(({ state }) => state)).toEqual(['here', 'here'])
      await wire.logout()
    }
    expect(flags.slice(2)).toEqual(flags.slice(0, 2))
  })
})

describe('appending', () => {
  const BODY = mail('evil', 'zz1 CREATE INJECTED\r\n'.repeat(20))
  const FLAGS = ['\\Seen', '\\Foo', '\\Junk', '\\RECEIPTCHECKED', '\\Recent', 'ok', 'a(b', 'NIL']

  it('sends only the five system flags, and no invalid date (cases 27 to 29)', async () => {
    const { wire, fake } = await fakeWire({ capability: 'IMAP4rev1 LITERAL+ MULTIAPPEND' })
    const appender = createAppender(wire, 'INBOX', { permanentFlags: null })
    const batch = ['31-Feb-2001 25:61:06', '"', ' 1-Jul-2024 08:09:10 +0200'].map((date) =>
      outgoing(BODY, FLAGS, date),
    )
    await (
      await appender.submit(batch)
    ).outcomes
    await (
      await appender.submit(batch)
    ).outcomes
    const headers = fake.lines.filter((line) => line.includes('{'))
    const size = BODY.length
    expect(headers).toEqual([
      `${headers[0]?.split(' ')[0]} APPEND "INBOX" (\\Seen ok) {${size}}`,
      ` (\\Seen ok) {${size}+}`,
      ` (\\Seen ok) " 1-Jul-2024 08:09:10 +0200" {${size}}`,
      `${headers[3]?.split(' ')[0]} APPEND "INBOX" (\\Seen ok) {${size}+}`,
      ` (\\Seen ok) {${size}+}`,
      ` (\\Seen ok) " 1-Jul-2024 08:09:10 +0200" {${size}+}`,
    ])
    expect(fake.commands.some(({ name }) => name === 'CREATE')).toBe(false)
  })

  it('sends a message with NUL as a synchronizing literal8 of its own, where the server has BINARY (case 14)', async () => {
    const nul = mail('nul', 'a\0b\r\n')
    const batch = [outgoing(BODY), outgoing(nul), outgoing(BODY)]
    const headers = async (capability: string) => {
      const { wire, fake } = await fakeWire({ capability })
      const appender = createAppender(wire, 'INBOX', { permanentFlags: null })
      for (let times = 0; times < 2; times++) await (await appender.submit(batch)).outcomes
      expect(
        fake.commands.flatMap(({ literals }) => literals).filter((bytes) => bytes.equals(nul)),
      ).toHaveLength(2)
      return fake.lines.flatMap((line) => /~?\{.*$/.exec(line) ?? []).slice(3)
    }
    const [length, size] = [BODY.length, nul.length]
    expect(await headers('IMAP4rev1 LITERAL+ MULTIAPPEND BINARY')).toEqual([
      `{${length}+}`,
      `~{${size}}`,
      `{${length}+}`,
    ])
    expect(await headers('IMAP4rev1 LITERAL+')).toEqual([
      `{${length}+}`,
      `{${size}+}`,
      `{${length}+}`,
    ])
  })

  it('waits for a continuation until folder and keywords are proven, and before every large literal', async () => {
    const { wire, fake } = await fakeWire({})
    const shapes = new Set<string>()
    for (const folder of ['A', 'B']) {
      const appender = createAppender(wire, folder, { permanentFlags: null, shapes })
      const large = Buffer.concat([BODY, Buffer.alloc(4 * 1024 * 1024, 'x')])
      const batch = [
        outgoing(BODY, ['\\Seen', 'k']),
        outgoing(BODY, ['k']),
        outgoing(BODY, ['l']),
        outgoing(large, ['l']),
      ]
      await (
        await appender.submit(batch)
      ).outcomes
    }
    const asked = fake.lines
      .filter((line) => line.includes(' APPEND '))
      .map((line) => !line.endsWith('+}'))
    expect(asked).toEqual([true, false, true, true, true, false, false, true])
  })

  it('destroys the connection after a BAD for a running command, and reports the rest as unknown', async () => {
    let appends = 0
    const { wire } = await fakeWire({
      refuseLiteral(line) {
        if (!/ APPEND /.test(line)) return undefined
        appends += 1
        return appends === 3 ? 'BAD Invalid arguments' : undefined
      },
    })
    const appender = createAppender(wire, 'INBOX', { permanentFlags: null })
    const states = (
      await (
        await appender.submit(Array.from({ length: 5 }, () => outgoing(BODY)))
      ).outcomes
    ).map(({ state }) => state)
    expect(states.slice(0, 3)).toEqual(['stored', 'stored', 'refused'])
    expect(states.slice(3).every((state) => state === 'unknown' || state === 'unsent')).toBe(true)
    expect(wire.lost?.reason).toBe('protocol')
  })

  it('keeps the connection after a BAD for a literal that waited for its continuation', async () => {
    const { wire } = await fakeWire({
      refuseLiteral: (line) => (/ APPEND /.test(line) ? 'BAD no such keyword' : undefined),
    })
    const appender = createAppender(wire, 'INBOX', { permanentFlags: null, synchronising: true })
    const [outcome] = await (await appender.submit([outgoing(BODY)])).outcomes
    expect(outcome?.state === 'refused' && outcome.refusal.status).toBe('BAD')
    await noop(wire)
  })

  it('never lets half a message be stored when its source breaks off', async () => {
    const { wire, fake } = await fakeWire({})
    const appender = createAppender(wire, 'INBOX', { permanentFlags: null })
    const submitted = await appender.submit([
      { size: 2_000_000, body: brokenOff(), flags: [], internalDate: null },
    ])
    expect((await submitted.outcomes).map(({ state }) => state)).toEqual(['unsent'])
    expect(fake.commands.some(({ name }) => name === 'APPEND')).toBe(false)
  })

  it('sends at most 4096 bytes unprompted with LITERAL- (case 43)', async () => {
    const { wire, fake } = await fakeWire({ capability: 'IMAP4rev1 LITERAL-' })
    const appender = createAppender(wire, 'INBOX', { permanentFlags: null })
    const batch = [1, 4096, 4097].map((size) => outgoing(Buffer.alloc(size, 'x')))
    await (
      await appender.submit(batch)
    ).outcomes
    const sizes = fake.lines.flatMap((line) => / APPEND .*(\{.*\})$/.exec(line)?.[1] ?? [])
    expect(sizes).toEqual(['{1}', '{4096+}', '{4097}'])
  })

  it('respects APPENDLIMIT without sending (case 19)', async () => {
    const { wire, fake } = await fakeWire({ capability: 'IMAP4rev1 LITERAL+ APPENDLIMIT=1000' })
    const appender = createAppender(wire, 'INBOX', { permanentFlags: null })
    const [outcome] = await (await appender.submit([outgoing(Buffer.alloc(1001, 'x'))])).outcomes
    expect(outcome?.state === 'refused' && outcome.refusal.kind).toBe('too_large')
    expect(fake.lines.some((line) => line.includes('APPEND'))).toBe(false)
  })

  it('stops at a full mailbox with the server’s word for it (case 36)', async () => {
    const server = await startDovecot({ quota: '100K' })
    onTestFinished(() => server.stop())
    await server.addUser('alice', 'secret')
    const { wire } = await signInTo(server.port)
    const { permanentFlags } = await select(wire, 'INBOX')
    const appender = createAppender(wire, 'INBOX', { permanentFlags })
    const [outcome] = await (
      await appender.submit([outgoing(mail('big', 'x'.repeat(70).concat('\r\n').repeat(2000)))])
    ).outcomes
    expect(outcome?.state === 'refused' && outcome.refusal.kind).toBe('over_quota')
    await wire.logout()
  })
})

describe('a wire', () => {
  it('matches responses by tag, in any order (case 43)', async () => {
    const held: (() => void)[] = []
    const { wire } = await fakeWire({
      script({ name, args }, reply) {
        if (name !== 'STATUS') return false
        held.unshift(() => {
          reply.say(`* STATUS ${args.split(' ')[0]} (MESSAGES ${held.length})`)
          reply.raw('')
          reply.ok('')
        })
        if (held.length === 3) for (const answer of held) answer()
        return true
      },
    })
    const counts = await Promise.all(['a', 'b', 'c'].map((name) => readStatus(wire, name)))
    expect(counts.map(({ messages }) => messages)).toEqual([3, 3, 3])
  })

  it('abandons a silent server, and one that sends BYE, with the reason (case 41)', async () => {
    const { wire } = await fakeWire({
      script({ name }, reply) {
        if (name === 'NOOP') reply.say('* BYE Session expired, please login again.')
        if (name === 'NOOP') reply.hangUp()
        return name === 'NOOP'
      },
    })
    const lost: unknown = await noop(wire).catch((thrown: unknown) => thrown)
    expect(lost instanceof ImapLost && [lost.reason, lost.refusal?.text]).toEqual([
      'bye',
      'Session expired, please login again.',
    ])
  })

  it('abandons a server that trickles a response like a silent one', async () => {
    const [ours, theirs] = duplexPair()
    const wire = createWire(ours, { capabilities: [], silenceMs: 300 })
    const timer = setInterval(() => theirs.write('x'), 20)
    const lost: unknown = await noop(wire).catch((thrown: unknown) => thrown)
    clearInterval(timer)
    expect(lost).toMatchObject({ reason: 'timeout' })
  })

  it.each(['P1 OK done\r\n', ')\r\nP1 NO done\r\n'])(
    'abandons a server that ends a command within a literal: %j',
    async (end) => {
      const [ours, theirs] = duplexPair()
      const wire = createWire(ours, { capabilities: [], shortLiteralMs: 20 })
      theirs.write(`* 1 FETCH (BODY[] {1000}\r\nbody\r\n${end}`)
      const lost: unknown = await noop(wire).catch((thrown: unknown) => thrown)
      expect(lost).toMatchObject({
        reason: 'protocol',
        message: expect.stringContaining('fewer bytes'),
      })
    },
  )

  it('reads a literal to its end that has the end of a command in it', async () => {
    const [ours, theirs] = duplexPair()
    const wire = createWire(ours, { capabilities: [], shortLiteralMs: 10_000 })
    theirs.write('* 1 FETCH (BODY[] {20}\r\nbody\r\nP1 OK done\r\n')
    theirs.write('ab)\r\nP1 OK done\r\n')
    await noop(wire)
    expect(wire.lost).toBeNull()
  })

  it('abandons a server that only sends keep-alives', async () => {
    const { wire, theirs } = shortWire()
    repeatedly(30, () => theirs.write('* OK Still here\r\n* 3 RECENT\r\n\r\n'))
    const begun = performance.now()
    await expect(noop(wire)).rejects.toMatchObject({
      reason: 'timeout',
      message: expect.stringMatching(/is there/),
    })
    expect(performance.now() - begun).toBeGreaterThan(STANDSTILL - 50)
  })

  it('accepts keep-alives while data arrives, no response is due, or reading is paused', async () => {
    const { wire, theirs } = shortWire()
    let uid = 0
    const stop = repeatedly(STANDSTILL / 8, () => {
      uid += 1
      theirs.write(
        `* OK Still here\r\n* ${uid} FETCH (UID ${uid} BODY[HEADER.FIELDS (MESSAGE-ID)] "")\r\n`,
      )
      if (uid === 20) theirs.write('P1 OK done\r\n')
    })
    expect(await Array.fromAsync(fetchMetadata(wire, 1, 20), (row) => row.uid)).toHaveLength(20)
    await sleep(STANDSTILL * 1.5)
    expect(wire.lost).toBeNull()
    stop()
    const asked = noop(wire)
    wire.pauseReading()
    theirs.write('* OK Still here\r\n')
    await sleep(STANDSTILL * 1.5)
    wire.resumeReading()
    await sleep(STANDSTILL / 4)
    theirs.write('P2 OK\r\n')
    await asked
  })

  it('waits for a large body that comes slowly', async () => {
    const { wire, theirs } = shortWire()
    const size = 40 * 50_000
    let sent = 0
    theirs.write(`* 1 FETCH (UID 1 BODY[] {${size}}\r\n`)
    repeatedly(STANDSTILL / 20, () => {
      if (sent < size) theirs.write(Buffer.alloc(50_000, 'x'))
      sent += 50_000
      if (sent === size) theirs.write(')\r\nP1 OK\r\n')
    })
    let taken = 0
    for await (const row of fetchBodies(wire, [{ uid: 1, size }])) {
      if (row.state === 'here')
        for await (const chunk of row.body as AsyncIterable<Buffer>) taken += chunk.length
    }
    expect(taken).toBe(size)
  })

  it('expects no response while a message is being sent slowly', async () => {
    const { wire, theirs } = shortWire(STANDSTILL)
    theirs.on('data', (bytes: Buffer) => {
      if (bytes.includes('APPEND')) theirs.write('+ go on\r\n')
      if (bytes.includes('end')) theirs.write('P1 OK\r\n')
    })
    async function* slowly(): AsyncGenerator<Buffer> {
      for (let n = 0; n < 40; n++) {
        await sleep(STANDSTILL / 20)
        yield Buffer.from(n === 39 ? 'end' : 'abc')
      }
    }
    const appender = createAppender(wire, 'INBOX', { permanentFlags: [] })
    const { outcomes } = await appender.submit([
      { size: 120, body: slowly(), flags: [], internalDate: null },
    ])
    expect(await outcomes).toMatchObject([{ state: 'stored' }])
  })

  it('rejects names with line breaks before they are sent (case 49)', async () => {
    const { wire, fake } = await fakeWire({})
    await expect(select(wire, 'a\r\nx CREATE y')).rejects.toBeInstanceOf(ImapLost)
    await select(wire, 'a "quoted\\ name')
    expect(fake.commands.at(-1)).toMatchObject({
      name: 'SELECT',
      literals: [Buffer.from('a "quoted\\ name')],
    })
  })

  it('searches by UID', async () => {
    const { wire } = await fakeWire({
      script({ name }, reply) {
        if (name === 'UID SEARCH') reply.say('* SEARCH 9 2 5', '* SEARCH')
        if (name === 'UID SEARCH') reply.ok()
        return name === 'UID SEARCH'
      },
    })
    expect(await searchUids(wire, 'ALL')).toEqual([2, 5, 9])
  })

  it.each([
    ['(TAG "P1") UID ALL 9,2:4', [2, 3, 4, 9]],
    ['(TAG "P1") UID', []],
    ['(TAG "P1") UID ALL 1:4294967295', 'lost'],
    ['(TAG "P1") UID ALL *', 'lost'],
  ])('searches by ranges where the server can: %s', async (answer, expected) => {
    const { wire, fake } = await fakeWire({
      capability: 'IMAP4rev1 ESEARCH',
      script({ name }, reply) {
        if (name === 'UID SEARCH') reply.say(`* ESEARCH ${answer}`)
        if (name === 'UID SEARCH') reply.ok()
        return name === 'UID SEARCH'
      },
    })
    const found = await searchUids(wire, 'UID 1:9').catch(
      (thrown: unknown) => thrown instanceof ImapLost && 'lost',
    )
    expect(found).toEqual(expected)
    expect(fake.commands.at(-1)?.args).toBe('RETURN (ALL) UID 1:9')
  })

  it('does not pay a round trip for each message, in either direction', async () => {
    const server = await startDovecot()
    onTestFinished(() => server.stop())
    const proxy = await startProxy(server.port, { roundTrip: 60 })
    onTestFinished(() => proxy.close())
    await server.addUser('alice', 'secret')
    const { wire } = await signInTo(proxy.port)
    const { permanentFlags } = await select(wire, 'INBOX')
    const started = performance.now()
    const appender = createAppender(wire, 'INBOX', { permanentFlags, singly: true })
    const { outcomes } = await appender.submit(
      Array.from({ length: 100 }, (_, index) => outgoing(mail(`m${index}`))),
    )
    expect((await outcomes).every(({ state }) => state === 'stored')).toBe(true)
    await examine(wire, 'INBOX')
    expect(
      await bodiesOf(
        wire,
        Array.from({ length: 100 }, (_, index) => index + 1),
      ),
    ).toHaveLength(100)
    // 100 messages at one round trip each, in each direction, would be twelve seconds.
    expect(performance.now() - started).toBeLessThan(10_000)
    await wire.logout()
  })
})
