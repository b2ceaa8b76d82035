import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyText } from '../any-text.ts'
import { parseFormFiles } from '../../src/dmarc/intake/form-files.ts'
import { readReports } from '../../src/dmarc/intake/read-reports.ts'
import { authenticateMail } from '../../src/protocols/mail/mail-authentication.ts'
import { openMail } from '../../src/protocols/reports/report-mail.ts'
import { reportInText, detectType } from '../../src/protocols/reports/report-type.ts'
import { Fault } from '../../src/errors.ts'
import { hostile, within } from '../protocols/reports/hostile.ts'
import { mapResolver } from '../resolver.ts'
import { aggregate, mailWith, tlsReport } from './reports.ts'

/** Fragments of emails and reports that parsers are known to fail on. */
const PIECES = [
  'From: a@example.test\r\n',
  'Content-Type: multipart/mixed; boundary="b"\r\n',
  'Content-Type: message/rfc822\r\n',
  'Content-Type: text/plain; charset=utf-7\r\n',
  'Content-Transfer-Encoding: base64\r\n',
  'Content-Transfer-Encoding: quoted-printable\r\n',
  'Content-Disposition: attachment; filename*=utf-8\'\'%ff%00; filename*0*="x"\r\n',
  'Subject: =?utf-8?b?////?= =?x?q?=zz?=\r\n',
  'DKIM-Signature: v=1; a=rsa-sha256; d=example.test; s=s1; h=from:from; bh=x; b=y; l=99999999999\r\n',
  'Received-SPF: pass\r\n',
  '\r\n',
  '\r\n--b\r\n',
  '\r\n--b--\r\n',
  'H4sIAAAAAAAAA',
  'UEsDBBQ',
  '=3D=\r\n',
  '<feedback>',
  '<?xml version="1.0" encoding="utf-16"?>',
  '<!DOCTYPE feedback [<!ENTITY a "b">]>',
  '{"organization-name":"x","policies":[',
  '\0',
  '\xff\xfe',
  '\xc3\x28',
]

const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc
    .array(fc.oneof(fc.constantFrom(...PIECES), anyText({ maxLength: 20 })), {
      maxLength: 25,
    })
    .map((pieces) => Buffer.from(pieces.join(''), 'latin1')),
)

const TRUE = [
  aggregate(),
  tlsReport(),
  mailWith({ attachment: aggregate() }),
  gzipSync(aggregate()),
].map((one) => Buffer.from(one))

/** What is true, cut off and with some of its bytes changed. */
const damaged = fc
  .tuple(
    fc.constantFrom(...TRUE),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 8 }),
    fc.nat(),
  )
  .map(([whole, changes, length]) => {
    const bytes = Buffer.from(whole)
    for (const [at, byte] of changes) bytes[at % bytes.length] = byte
    return bytes.subarray(0, length % 3 === 0 ? length % bytes.length : bytes.length)
  })

const KINDS = ['aggregate', 'tls', 'failure', 'unread']

describe('untrusted files and emails', () => {
  it('result in a report or a reason', async () => {
    const property = fc.asyncProperty(
      fc.oneof(anyBytes, damaged, anyBytes.map(gzipSync)),
      async (bytes) => {
        for await (const read of readReports(bytes, 'x')) {
          expect(KINDS).toContain(read.kind)
          if (read.kind === 'unread') expect(read.reason).toMatch(/\S/)
        }
      },
    )
    await fc.assert(property, { numRuns: 400 })
  })

  it('are parsed as emails or rejected', async () => {
    const property = fc.asyncProperty(fc.oneof(anyBytes, damaged), async (bytes) => {
      const opened = await openMail(bytes).catch((error: unknown) => error)
      expect(opened instanceof Fault || Array.isArray((opened as { parts: unknown }).parts)).toBe(
        true,
      )
    })
    await fc.assert(property, { numRuns: 400 })
  })

  it('are recognized by their first bytes, quickly', () => {
    const property = fc.property(fc.oneof(anyBytes, damaged), (bytes) => {
      expect(detectType(bytes).is).toEqual(expect.any(String))
    })
    fc.assert(property)
    const read = (text: string) => [detectType(Buffer.from(text)), reportInText(text)]
    within(
      read,
      ['<', '<a:', 'a.', '-', ' ', '\n', '{', 'H4sI', '<!DOCTYPE ', 'x:y\n'],
      ['', '<', 'From: a\n', 'H4sI', 'x-'],
    )
  })

  it('are authenticated without a crash', { timeout: 120_000 }, async () => {
    const envelope = { ip: '192.0.2.1', helo: 'x', sender: 'a@example.test' }
    const property = fc.asyncProperty(
      fc.oneof(anyBytes, damaged),
      hostile(),
      async (bytes, text) => {
        const pieces = text.toWellFormed().slice(0, 200) || 'x'
        const records = {
          'example.test TXT': [pieces],
          '_dmarc.example.test TXT': [pieces],
          's1._domainkey.example.test TXT': [pieces],
        }
        const found = await authenticateMail(
          bytes,
          envelope,
          mapResolver(records),
          AbortSignal.timeout(5_000),
        )
        expect(found.spf.result).toEqual(expect.any(String))
      },
    )
    await fc.assert(property, { numRuns: 200 })
  })
})

describe('untrusted forms', () => {
  it('contain files or are not a form', () => {
    const type = fc.oneof(
      fc.constantFrom(
        'multipart/form-data; boundary=b',
        'multipart/form-data; boundary="b"',
        'text/plain',
        '',
      ),
      anyText(),
    )
    const property = fc.property(anyBytes, type, (body, contentType) => {
      const files = parseFormFiles(body, contentType)
      expect(
        files === null ||
          files.every(({ name, bytes }) => name !== '' && bytes.length <= body.length),
      ).toBe(true)
    })
    fc.assert(property)
  })

  it('with only delimiters cost neither time nor memory', () => {
    const body = Buffer.from('\r\n--b\r\n\r\n'.repeat(2_500_000))
    const begun = performance.now()
    const before = process.memoryUsage().heapUsed
    expect(parseFormFiles(body, 'multipart/form-data; boundary=b')?.length).toBeGreaterThan(100)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50e6)
    expect(performance.now() - begun).toBeLessThan(15_000)
  })
})
