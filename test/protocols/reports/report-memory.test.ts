import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Outcome } from './read-report.ts'
import { attached, gzip, mailWith, manyRecords, record, reportXml, zip } from './reports.ts'

const MB = 1024 * 1024
const [BEFORE = '', AFTER = ''] = reportXml({ records: '…' }).split('…')

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'reports-'))))
afterAll(() => rm(folder, { recursive: true }))

async function read(content: Buffer): Promise<Outcome> {
  const file = join(folder, 'report')
  await writeFile(file, content)
  return readFrom(file)
}

/** The content may be larger than any memory. */
async function readPacked(content: Iterable<string> | AsyncIterable<Uint8Array>): Promise<Outcome> {
  const file = join(folder, 'report.gz')
  await pipeline(Readable.from(content), createGzip({ level: 1 }), createWriteStream(file))
  return readFrom(file)
}

async function readFrom(file: string): Promise<Outcome> {
  const script = join(import.meta.dirname, 'read-report.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [script, file], {
    timeout: 100_000,
  })
  return JSON.parse(stdout) as Outcome
}

function* repeated(text: string, megabytes: number, before = '', after = ''): Generator<string> {
  yield before
  const piece = text.repeat(Math.ceil(MB / text.length))
  for (let n = 0; n < megabytes; n++) yield piece
  yield after
}

const fill = (text: string, megabytes: number) => text.repeat((megabytes * MB) / text.length)

function nested(depth: number): Buffer {
  let mail = mailWith([attached(gzip(reportXml()))])
  for (let n = 0; n < depth; n++) {
    mail = mailWith([{ fields: 'Content-Type: message/rfc822', body: mail.toString() }], {
      boundary: `b${n}`,
    })
  }
  return mail
}

/** A zip file of reports of 16 MB each, together more than may be unpacked. */
function bomb(): Buffer {
  const bytes = Buffer.from(BEFORE + fill(`<x>${'y'.repeat(57)}</x>`, 16))
  return zip(Array.from({ length: 11 }, (_, n) => ({ name: `${n}.xml`, bytes })))
}

const HOSTILE: [string, () => Promise<Outcome>, string | RegExp][] = [
  ['a gzip bomb of zeros', () => readPacked(repeated('\0', 200)), 'neither XML, JSON, a message'],
  ['a gzip bomb of blanks', () => readPacked(repeated(' ', 200)), 'The file is empty'],
  [
    'a gzip bomb in a report',
    () => readPacked(repeated(`<x>${'y'.repeat(500)}</x>`, 200, BEFORE, AFTER)),
    'larger than 160 MB',
  ],
  [
    'a gzip bomb of records',
    () => readPacked(repeated(record(), 200, BEFORE, AFTER)),
    'larger than 160 MB',
  ],
  [
    'a gzip bomb of text',
    () => readPacked(repeated('x', 200, `${BEFORE}<x>`)),
    'characters without a tag',
  ],
  [
    'a gzip bomb of JSON',
    () => readPacked(repeated(' ', 200, '{"report-id":"1"')),
    'too large for a TLS',
  ],
  [
    'a gzip bomb of a mail',
    () => readPacked(repeated('x\n', 200, 'From: a@b.example\n\n')),
    'larger than 25 MB',
  ],
  ['a zip bomb', () => read(bomb()), 'larger than 160 MB'],
  ['nested elements', () => read(Buffer.from(BEFORE + fill('<a>', 24))), 'nested elements'],
  [
    'attributes',
    () => read(Buffer.from(`${BEFORE}<a${fill(' a=""', 24)}`)),
    'attributes on one element',
  ],
  [
    'elements in a record',
    () => read(Buffer.from(`${BEFORE}<record>${fill('<a/>', 24)}`)),
    'elements in one record',
  ],
  [
    'an entity without end',
    () => read(Buffer.from(`${BEFORE}&${fill('x', 24)}`)),
    'characters without a tag',
  ],
  [
    'ampersands',
    () => read(Buffer.from(BEFORE + fill('&', 24) + AFTER)),
    'characters without a tag',
  ],
  [
    'ampersands and tags',
    () => read(Buffer.from(BEFORE + fill(`<a>${'&'.repeat(9_000)}</a>`, 24) + AFTER)),
    '0 records',
  ],
  [
    'a comment',
    () => read(Buffer.from(`${BEFORE}<!--${fill('-<', 24)}`)),
    'characters without a tag',
  ],
  ['errors', () => read(Buffer.from(BEFORE + fill('</x>', 24))), 'not well-formed'],
  [
    'records without content',
    () => readPacked(repeated('<record/>', 100, BEFORE, AFTER)),
    'more than 500,000 records',
  ],
  [
    'brackets of JSON',
    () => read(Buffer.from(`{"report-id":${fill('[', 24)}`)),
    'too large for a TLS report',
  ],
  [
    'brackets of JSON in four megabytes',
    () => read(Buffer.from(`{"report-id":${fill('[', 3)}`)),
    'too many objects and lists',
  ],
  [
    'parts of a mail',
    () => read(mailWith([{ fields: '', body: fill('\n--=_b\n', 12) }])),
    'too many parts',
  ],
  [
    'header fields',
    () => read(Buffer.from(`From: a@b.example\n${fill('X-A: b\n', 24)}\n`)),
    'too many lines',
  ],
  [
    'a header field',
    () => read(Buffer.from(`From: a@b.example\nTo: ${fill('(', 24)}\n\n`)),
    'header of the message is too large',
  ],
  ['mails in one another', () => read(nested(40)), 'too many levels of compression'],
]

describe('under 300 MB and in some seconds of processor time', () => {
  it.each(HOSTILE)('an oversized file: %s', { timeout: 120_000 }, async (_, outcome, expected) => {
    const { outcomes, maxRss, cpuMilliseconds } = await outcome()
    expect(outcomes.join('\n')).toMatch(expected)
    expect(maxRss / MB).toBeLessThan(300)
    // Several times the usual value, because shared processors count more time for the same work.
    expect(cpuMilliseconds).toBeLessThan(30_000)
  })

  it('a report of 100,000 records', { timeout: 120_000 }, async () => {
    const { outcomes, maxRss } = await readPacked(manyRecords(100_000))
    expect(outcomes).toEqual(['100000 records'])
    expect(maxRss / MB).toBeLessThan(300)
  })

  it('a mail with 18 MB in base64', { timeout: 120_000 }, async () => {
    const xml = Buffer.from(reportXml({ records: '<x>y</x>'.repeat(2.25 * MB) }))
    const { outcomes, maxRss } = await read(mailWith([attached(xml)]))
    expect(outcomes).toEqual(['0 records'])
    expect(maxRss / MB).toBeLessThan(300)
  })
})
