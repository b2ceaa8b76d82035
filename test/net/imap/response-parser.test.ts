import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createResponseParser, NotImap } from '../../../src/net/imap/connection/response-parser.ts'
import {
  createResponseAssembler,
  type Response,
} from '../../../src/net/imap/connection/response.ts'

function read(pieces: Buffer[]): Response[] {
  const responses: Response[] = []
  const assembler = createResponseAssembler()
  let literal: Buffer[] = []
  const reader = createResponseParser({
    segment(text, size) {
      if (text === '' && assembler.skipsEmptyLine()) return true
      assembler.segment(text)
      if (size === null) responses.push(assembler.finish())
      return size !== null
    },
    chunk: (bytes) => literal.push(Buffer.from(bytes)),
    literalEnd() {
      assembler.literal(Buffer.concat(literal))
      literal = []
    },
  })
  for (const piece of pieces) reader.push(piece)
  return responses
}

function cutAt(bytes: Buffer, cuts: number[]): Buffer[] {
  const places = [
    0,
    ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b),
    bytes.length,
  ]
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}

const SAMPLE = Buffer.from(
  [
    '* OK [CAPABILITY IMAP4rev1 LITERAL+] it is {5}',
    '* 12 FETCH (FLAGS (\\Seen $label1) BODY[] {12}',
    'a\r\n) "{3}\r\nb UID 7 INTERNALDATE " 1-Jul-2024 08:09:10 +0200")',
    '* LIST (\\HasNoChildren) "/" {4}',
    'a"\\b',
    '* 3 FETCH (UID 9 BODY[HEADER.FIELDS (MESSAGE-ID)] {0}',
    ' BODY[] NIL)',
    '* LIST () NIL "quoted \\"name\\" \\\\ {7}"',
    'P1 OK [APPENDUID 7 1:3,9] Done (really)',
    '+ ',
    '',
  ].join('\r\n'),
  'latin1',
)

function readNoise(bytes: Uint8Array, prefix: string): void {
  try {
    read([Buffer.from(prefix), Buffer.from(bytes), Buffer.from('\r\n')])
  } catch (error) {
    if (!(error instanceof NotImap)) throw error
  }
}

describe('the response parser', () => {
  it('reads atoms, quoted strings, literals, lists and response codes', () => {
    expect(read([SAMPLE])).toEqual([
      { kind: 'status', tag: '*', status: 'OK', code: { name: 'CAPABILITY', args: ['IMAP4rev1', 'LITERAL+'], text: 'IMAP4rev1 LITERAL+' }, text: 'it is {5}' },
      { kind: 'data', values: ['12', 'FETCH', ['FLAGS', ['\\Seen', '$label1'], 'BODY[]', Buffer.from('a\r\n) "{3}\r\nb'), 'UID', '7', 'INTERNALDATE', ' 1-Jul-2024 08:09:10 +0200']] },
      { kind: 'data', values: ['LIST', ['\\HasNoChildren'], '/', Buffer.from('a"\\b')] },
      { kind: 'data', values: ['3', 'FETCH', ['UID', '9', 'BODY[HEADER.FIELDS (MESSAGE-ID)]', Buffer.alloc(0), 'BODY[]', null]] },
      { kind: 'data', values: ['LIST', [], null, 'quoted "name" \\ {7}'] },
      { kind: 'status', tag: 'P1', status: 'OK', code: { name: 'APPENDUID', args: ['7', '1:3,9'], text: '7 1:3,9' }, text: 'Done (really)' },
      { kind: 'continue', text: '' },
    ]) // prettier-ignore
  })

  it('parses the same from any split of the bytes', () => {
    const whole = read([SAMPLE])
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 40 }), (cuts) => {
        expect(read(cutAt(SAMPLE, cuts))).toEqual(whole)
      }),
    )
  })

  it('throws nothing but NotImap at garbage', () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .string({ unit: fc.constantFrom(...'*+ ()[]{}"\\\r\n0129aNIL~'.split('')), maxLength: 200 })
        .map((text) => Buffer.from(text)),
    )
    fc.assert(fc.property(noise, fc.constantFrom('', '* ', '* 1 FETCH (', 'P1 OK ['), readNoise), {
      numRuns: 2000,
    })
  })

  it.each(['[', '(', '"', '\\', '{', '"a', '[[a]', '{1', 'a'])(
    'reads megabytes of %s in no time',
    (piece) => {
      const started = process.cpuUsage()
      try {
        read([Buffer.from(`* ${piece.repeat(2_000_000 / piece.length)}\r\n`)])
      } catch (error) {
        expect(error).toBeInstanceOf(NotImap)
      }
      // Time of the processor, in microseconds: others may be at it, too.
      expect(process.cpuUsage(started).user).toBeLessThan(2_000_000)
    },
  )

  it('does not wait forever for the end of a line', () => {
    const piece = Buffer.alloc(1024 * 1024, 'a')
    expect(() => read([Buffer.from('* '), piece, piece, piece, piece, piece])).toThrow(NotImap)
  })
})
