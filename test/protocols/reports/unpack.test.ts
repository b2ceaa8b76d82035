import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAggregate, readSample, unpackAll } from './report-samples.ts'
import { attached, gzip, mailWith, reportXml, zip } from './reports.ts'

const XML = reportXml()
const TLS = JSON.stringify({ 'organization-name': 'x', 'report-id': '1', policies: [] })

/** The found reports, as text. */
async function contents(bytes: Uint8Array): Promise<string[]> {
  const { reports } = await unpackAll(bytes)
  return Promise.all(
    reports.map(async ({ open }) => Buffer.concat(await Array.fromAsync(open())).toString()),
  )
}

describe('a report', () => {
  it.each([
    ['XML', Buffer.from(XML)],
    ['XML behind a byte order mark and blanks', Buffer.from(`\ufeff\n  ${XML}`)],
    ['XML behind some words', Buffer.from(`Your report:\n${XML}`)],
    ['gzip', gzip(XML)],
    ['gzip with a line break behind it', Buffer.concat([gzip(XML), Buffer.from('\r\n')])],
    ['gzip with zeros behind it', Buffer.concat([gzip(XML), Buffer.alloc(512)])],
    ['gzip in two members', Buffer.concat([gzip(XML.slice(0, 200)), gzip(XML.slice(200))])],
    ['gzip in gzip', gzip(gzip(XML))],
    ['zip', zip([{ name: 'a.xml', bytes: Buffer.from(XML) }])],
    ['zip without compression', zip([{ name: 'a.xml', bytes: Buffer.from(XML), method: 0 }])],
    [
      'zip with a line break behind it',
      Buffer.concat([zip([{ name: 'a', bytes: Buffer.from(XML) }]), Buffer.from('\r\n')]),
    ],
    [
      'zip with a folder first',
      zip([
        { name: 'd/', bytes: Buffer.of() },
        { name: 'd/a', bytes: Buffer.from(XML) },
      ]),
    ],
    ['zip with a name from above', zip([{ name: '../../etc/a', bytes: Buffer.from(XML) }])],
    ['zip with no name', zip([{ name: '', bytes: Buffer.from(XML) }])],
    ['zip with a wrong size', zip([{ name: 'a', bytes: Buffer.from(XML), claimedSize: 7 }])],
    ['zip in zip', zip([{ name: 'a', bytes: zip([{ name: 'b', bytes: Buffer.from(XML) }]) }])],
    ['gzip in zip', zip([{ name: 'a', bytes: gzip(XML) }])],
    ['base64', Buffer.from(`${gzip(XML).toString('base64').replaceAll(/.{76}/g, '$&\r\n')}\r\n`)],
  ])('is found in %s', async (_, bytes) => {
    const { kinds, reasons } = await unpackAll(bytes)
    expect({ kinds, reasons }).toEqual({ kinds: ['aggregate'], reasons: [] })
    expect((await contents(bytes))[0]).toContain(XML)
  })

  it.each([
    [
      'with the wrong type',
      mailWith([attached(gzip(XML), 'Content-Type: application/x-zip; name="a.zip"')]),
    ],
    ['of text', mailWith([{ fields: 'Content-Type: text/xml', body: XML }])],
    ['of plain text', mailWith([{ fields: 'Content-Type: text/plain', body: `Hello.\n\n${XML}` }])],
    ['whose type is misspelt', mailWith([attached(gzip(XML), 'ContentType: application/gzip')])],
    [
      'whose encoding is misspelt',
      mailWith([
        {
          fields: 'Content-Type: text/plain',
          body: gzip(XML).toString('base64').replaceAll(/.{76}/g, '$&\n'),
        },
      ]),
    ],
    [
      'in a mail',
      mailWith([
        {
          fields: 'Content-Type: message/rfc822',
          body: mailWith([attached(gzip(XML))], { boundary: 'inner' }).toString(),
        },
      ]),
    ],
    [
      'in a mail in base64',
      mailWith([attached(mailWith([attached(gzip(XML))]), 'Content-Type: message/rfc822')]),
    ],
    [
      'behind the line of an mbox',
      Buffer.concat([Buffer.from('From a@b Thu Nov 20\n'), mailWith([attached(gzip(XML))])]),
    ],
  ])('is found in a mail %s', async (_, bytes) => {
    expect((await unpackAll(bytes)).kinds).toEqual(['aggregate'])
    const [text = ''] = await contents(bytes)
    expect((await readAggregate(text)).policyPublished.domain).toBe('example.com')
  })

  it('of TLS is distinguished from one of DMARC', async () => {
    const bytes = mailWith([attached(gzip(XML)), attached(gzip(TLS)), attached(Buffer.from(TLS))])
    expect((await unpackAll(bytes)).kinds).toEqual(['aggregate', 'tls', 'tls'])
  })

  it('can be opened again and again, and after the others', async () => {
    const { reports } = await unpackAll(
      zip([
        { name: 'a', bytes: Buffer.from(XML) },
        { name: 'b', bytes: gzip(XML) },
      ]),
    )
    for (const report of [...reports, ...reports.toReversed()]) {
      expect((await readAggregate(report.open())).recordCount).toBe(1)
    }
    expect(reports.map(({ name }) => name)).toEqual(['a', 'b'])
  })

  it('comes with the headers of its innermost mail', async () => {
    const inner = mailWith([attached(gzip(XML))], {
      boundary: 'inner',
      subject: '=?utf-8?q?Bericht_f=C3=BCr_example=2Ecom?=',
      fields: 'TLS-Report-Domain: Example.COM.\n',
    })
    const outer = mailWith([{ fields: 'Content-Type: message/rfc822', body: inner.toString() }], {
      subject: 'Fwd',
    })
    expect((await unpackAll(outer)).reports[0]?.mail).toEqual({
      subject: 'Bericht für example.com',
      tlsReportDomain: 'example.com',
    })
  })

  it('about one message is not parsed', async () => {
    const bytes = mailWith(
      [
        {
          fields: 'Content-Type: message/feedback-report',
          body: 'Feedback-Type: auth-failure\nVersion: 1\n',
        },
        {
          fields: 'Content-Type: message/rfc822',
          body: mailWith([attached(gzip(XML))], { boundary: 'inner' }).toString(),
        },
      ],
      { subject: 'Failed' },
    )
    const { reports, others } = await unpackAll(bytes)
    expect(reports).toEqual([expect.objectContaining({ kind: 'failure', name: 'Failed' })])
    expect(others).toEqual([])
  })
})

describe('files that are not reports', () => {
  it.each([
    ['nothing', Buffer.of(), 'empty'],
    ['blanks', Buffer.from(' \n'), 'empty'],
    ['a web page', Buffer.from('<!DOCTYPE html><html></html>'), 'web page'],
    ['other XML', Buffer.from('<?xml version="1.0"?><rss/>'), 'the <feedback> element is missing'],
    ['other JSON', Buffer.from('{"a": 1}'), 'not an SMTP TLS report'],
    ['a word', gzip('unused'), 'neither XML, JSON, a message nor an archive'],
    [
      'a picture',
      Buffer.from('89504e470d0a1a0a0000', 'hex'),
      'neither XML, JSON, a message nor an archive',
    ],
    ['an empty archive', zip([]), 'zip archive is empty'],
    ['a folder', zip([{ name: 'd/', bytes: Buffer.of() }]), 'zip archive is empty'],
    [
      'an empty file in an archive',
      zip([{ name: 'a.xml', bytes: Buffer.of() }]),
      'The file is empty',
    ],
    ['gzip that breaks off', gzip(XML).subarray(0, 30), 'damaged or truncated'],
    ['gzip that is nothing but a header', gzip(XML).subarray(0, 10), 'damaged or truncated'],
    ['gzip of noise', Buffer.from('1f8b0800000000000003ffffffffff', 'hex'), 'damaged'],
    [
      'zip that breaks off',
      zip([{ name: 'a', bytes: Buffer.from(XML) }]).subarray(0, 60),
      'damaged',
    ],
    ['zip with a password', zip([{ name: 'a', bytes: Buffer.from(XML), flags: 1 }]), 'encrypted'],
    [
      'zip of another method',
      zip([{ name: 'a', bytes: Buffer.from(XML), method: 14 }]),
      'compression method 14',
    ],
    [
      'a letter',
      Buffer.from('From: a@b.example\nSubject: Hello\n\nHow are you?\n'),
      'no attachment',
    ],
  ])('such as %s is named with the reason', async (_, bytes, reason) => {
    const { kinds, reasons } = await unpackAll(bytes)
    expect({ kinds, reasons }).toEqual({ kinds: [], reasons: [expect.stringContaining(reason)] })
  })

  it('does not hide the reports beside it', async () => {
    const picture = attached(
      Buffer.from('89504e470d0a1a0a', 'hex'),
      'Content-Type: image/png; name="logo.png"',
    )
    const files = [
      { name: 'readme.txt', bytes: Buffer.from('unused') },
      { name: 'a.xml', bytes: Buffer.from(XML) },
      { name: 'locked.xml', bytes: Buffer.from(XML), flags: 1 },
    ]
    const { reports, others } = await unpackAll(
      mailWith([picture, attached(zip(files)), attached(gzip(TLS))]),
    )
    expect(reports.map(({ name, kind }) => [name, kind])).toEqual([
      ['a.xml', 'aggregate'],
      ['A report', 'tls'],
    ])
    expect(others.map(({ name }) => name)).toEqual(['logo.png', 'readme.txt', 'locked.xml'])
  })

  it('is a bounce, part by part', async () => {
    const bounce = mailWith([
      {
        fields: 'Content-Type: message/delivery-status',
        body: 'Reporting-MTA: dns; mx.example\n\nAction: failed\n',
      },
      {
        fields: 'Content-Type: message/rfc822',
        body: 'From: a@b.example\nSubject: Ours\n\nHello\n',
      },
    ])
    const { kinds, others } = await unpackAll(bounce)
    expect(kinds).toEqual([])
    expect(others.map(({ name }) => name)).toEqual(['A report', 'Ours'])
  })
})

describe('limits', () => {
  const limits = { inflated: 100_000, whole: 50_000, entries: 3, depth: 3 }
  const large = reportXml({ records: ' '.repeat(90_000) })

  it('apply to the content of all archives together', async () => {
    const bytes = zip(['a', 'b'].map((name) => ({ name, bytes: Buffer.from(large) })))
    const { reports, reasons } = await unpackAll(bytes, {
      limits: { ...limits, inflated: 150_000 },
    })
    expect(reports.map(({ name }) => name)).toEqual(['a'])
    expect(reasons).toEqual(['The uncompressed file is larger than 150000 bytes.'])
  })

  it('apply to streamed content, too', async () => {
    const huge = Buffer.from(reportXml({ records: '<record/>'.repeat(170_000) }))
    const { reports } = await unpackAll(zip(['a', 'b'].map((name) => ({ name, bytes: huge }))), {
      limits: { ...limits, inflated: 4_500_000 },
    })
    const [first, second] = reports
    // The start of both is read; then the first fits, and the second does not.
    await readAggregate(first?.open() ?? Buffer.of())
    await expect(readAggregate(second?.open() ?? Buffer.of())).rejects.toMatchObject({
      code: 'too_large',
    })
  })

  it('apply to archives that unpack to nothing, repeatedly', async () => {
    const { kinds, reasons } = await unpackAll(Buffer.alloc(4_000_000, gzip('')))
    expect({ kinds, reasons }).toEqual({
      kinds: [],
      reasons: ['The uncompressed file is larger than 160 MB.'],
    })
  })

  it('apply to content that must be in memory as a whole', async () => {
    const bytes = zip([
      { name: 'inner.zip', bytes: zip([{ name: 'a', bytes: Buffer.alloc(60_000), method: 0 }]) },
    ])
    const { reasons } = await unpackAll(bytes, { limits: { ...limits, inflated: 1_000_000 } })
    expect(reasons).toEqual(['The file is larger than 50000 bytes.'])
  })

  it('apply to the files of an archive, and the ones within them are read', async () => {
    const files = ['a', 'b', 'c', 'd'].map((name) => ({ name, bytes: Buffer.from(XML) }))
    const { kinds, reasons } = await unpackAll(zip(files), { limits })
    expect(kinds).toHaveLength(3)
    expect(reasons).toEqual(['The file contains more than 3 files. The others were not read.'])
  })

  it('hold for archives in one another', async () => {
    expect((await unpackAll(gzip(gzip(gzip(XML))), { limits })).kinds).toEqual(['aggregate'])
    const { kinds, reasons } = await unpackAll(gzip(gzip(gzip(gzip(XML)))), { limits })
    expect({ kinds, reasons }).toEqual({
      kinds: [],
      reasons: ['The file has too many levels of compression.'],
    })
  })
})

describe('garbage', () => {
  const seeds = [
    zip([
      { name: 'a.xml', bytes: Buffer.from(XML) },
      { name: 'b', bytes: gzip(XML) },
    ]),
    gzip(XML),
    mailWith([attached(gzip(XML)), attached(zip([{ name: 'a', bytes: Buffer.from(TLS) }]))]),
    readSample('failure-arf.eml'),
  ]
  const mangled = fc
    .tuple(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }),
      fc.nat(),
    )
    .map(([seed, changes, end]) => {
      const bytes = Buffer.from(seed)
      for (const [at, byte] of changes) bytes[at % bytes.length] = byte
      return bytes.subarray(0, end % 3 === 0 ? end % bytes.length : bytes.length)
    })

  it('becomes reports or reasons, and at least one of them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(mangled, fc.uint8Array({ maxLength: 200 })), async (bytes) => {
        const { reports, others } = await unpackAll(bytes)
        expect(reports.length + others.length).toBeGreaterThan(0)
        for (const { reason } of others) expect(reason).toMatch(/^[A-Z].*\.$/)
        for (const report of reports.filter(({ kind }) => kind === 'aggregate')) {
          const outcome = await readAggregate(report.open()).catch((error: unknown) => error)
          if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'Fault' })
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
