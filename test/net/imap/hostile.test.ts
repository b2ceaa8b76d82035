import { duplexPair } from 'node:stream'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fetchBodies } from '../../../src/net/imap/fetch/fetch-bodies.ts'
import { fetchMetadata } from '../../../src/net/imap/fetch/fetch-metadata.ts'
import { listFolders } from '../../../src/net/imap/folders/list-folders.ts'
import { readInbox } from '../../../src/net/imap/fetch/read-inbox.ts'
import { examine, searchUids, readStatus } from '../../../src/net/imap/folders/mailbox.ts'
import {
  classifyRefusal,
  ImapLost,
  ImapRefused,
} from '../../../src/net/imap/connection/refusals.ts'
import { createWire, type Wire } from '../../../src/net/imap/connection/wire.ts'
import { within } from '../../protocols/reports/hostile.ts'
import { anyText } from '../../any-text.ts'

const PIECES = [
  '* ',
  '1 ',
  '4294967296 ',
  'FETCH ',
  '(UID 1 ',
  'FLAGS (\\Seen) ',
  'RFC822.SIZE 99999999999999999999 ',
  'INTERNALDATE "x" ',
  'BODY[] {5}\r\n',
  'BODY[HEADER.FIELDS (MESSAGE-ID)] {3}\r\n',
  '{99999999999}\r\n',
  'NIL',
  ')',
  '\r\n',
  'EXISTS\r\n',
  'LIST (\\HasChildren) "/" ',
  'LIST () NIL ',
  '"a&b"',
  'STATUS ',
  '(MESSAGES -1 UIDNEXT x)',
  'SEARCH 3 2 1 0 x\r\n',
  'ESEARCH ALL 1:4294967295\r\n',
  'OK [UIDVALIDITY 0] x\r\n',
  'BYE\r\n',
  '+ \r\n',
  'P1 OK\r\n',
  'P2 OK [READ-ONLY] x\r\n',
  'P3 NO [LIMIT] x\r\n',
  'P4 BAD x\r\n',
  '\0',
  '\xff',
  '('.repeat(40),
]

const answers = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...PIECES) },
    { weight: 1, arbitrary: anyText({ maxLength: 8 }) },
  ),
  {
    maxLength: 40,
  },
)

async function all<T>(rows: AsyncIterable<T>): Promise<void> {
  for await (const row of rows) if (row === undefined) throw new Error('a row that is none')
}

const WORK: Record<string, (wire: Wire) => Promise<unknown>> = {
  'the list of folders': (wire) => listFolders({ wire, namespace: null }),
  'an open folder': (wire) => examine(wire, 'INBOX'),
  'a folder’s figures': (wire) => readStatus(wire, 'INBOX'),
  'a search': (wire) => searchUids(wire, 'ALL'),
  metadata: (wire) => all(fetchMetadata(wire, 1, 10)),
  bodies: (wire) =>
    all(
      fetchBodies(wire, [
        { uid: 1, size: 5 },
        { uid: 2, size: null },
      ]),
    ),
  'an inbox': (wire) =>
    readInbox(wire, {
      folder: 'INBOX',
      moveTo: null,
      position: { uidValidity: null, lastUid: 0 },
      maxMessageBytes: 100,
      signal: AbortSignal.timeout(5_000),
      onMessage: async () => true,
      onPosition: async () => {},
    }),
}

describe.each(Object.entries(WORK))('for any response of a server, %s', (_what, work) => {
  it('exists, is rejected, or is lost', async () => {
    const property = fc.asyncProperty(
      answers,
      fc.integer({ min: 1, max: 50 }),
      async (pieces, size) => {
        const [ours, theirs] = duplexPair()
        const wire = createWire(ours, {
          capabilities: ['LIST-EXTENDED', 'ESEARCH'],
          silenceMs: 5_000,
        })
        theirs.resume()
        const working = work(wire).then(
          () => null,
          (error: unknown) => error,
        )
        const bytes = Buffer.from(pieces.join(''), 'latin1')
        for (let at = 0; at < bytes.length; at += size) theirs.write(bytes.subarray(at, at + size))
        theirs.end()
        const error = await working
        expect(
          error === null || error instanceof ImapLost || error instanceof ImapRefused,
          String(error),
        ).toBe(true)
      },
    )
    await fc.assert(property, { numRuns: 150 })
  })
})

describe('the text of a rejection', () => {
  it('are classified in no time', () => {
    within(
      (text) => classifyRefusal('NO', null, text),
      ['too many ', 'Backoff Time: 1', ' ', '9', '[', 'quota'],
      ['', 'Suggested ', 'a'],
    )
  })
})
