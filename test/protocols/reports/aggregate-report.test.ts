import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyText } from '../../any-text.ts'
import {
  openReports,
  readReport,
  reportKey,
} from '../../../src/protocols/reports/aggregate-report.ts'
import { readAggregate } from './report-samples.ts'
import { manyRecords, record, reportXml } from './reports.ts'

async function whyNot(xml: string | Uint8Array): Promise<string> {
  const failure: unknown = await readAggregate(xml).catch((error: unknown) => error)
  expect(failure).toMatchObject({ name: 'Fault' })
  return (failure as Error).message
}

const only = async (records: string) => (await readAggregate(reportXml({ records }))).records[0]

describe('an aggregate report', () => {
  it('is read with all that RFC 9990 adds', async () => {
    const report =
      await readAggregate(`<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0"><version>1.0</version>
      <report_metadata><org_name>Receiver</org_name><email>d@receiver.example</email>
        <extra_contact_info lang="en">https://receiver.example/dmarc</extra_contact_info><report_id>7</report_id>
        <date_range><begin>1763596800</begin><end>1763683199</end></date_range>
        <error>one</error><error lang="de">zwei</error><generator>reporter 2.1</generator></report_metadata>
      <policy_published><discovery_method>treewalk</discovery_method><domain>Example.COM.</domain><p>Reject</p>
        <sp>quarantine</sp><np>reject</np><adkim>s</adkim><aspf>r</aspf><fo>1:d</fo><testing>y</testing></policy_published>
      <extension><x:other xmlns:x="https://other.example"><record>not ours</record></x:other></extension>
      ${record({
        row: '<source_ip>2001:DB8:0::1</source_ip><count>12</count>',
        evaluated: `<disposition>Quarantine</disposition><dkim>Pass</dkim><spf>FAIL</spf>
          <reason><type>mailing_list</type><comment lang="en">a list</comment></reason><reason><type/></reason>`,
        identifiers:
          '<header_from>News.Example.COM</header_from><envelope_from>b.example</envelope_from><envelope_to>c.example</envelope_to>',
        results: `<dkim><domain>example.com</domain><selector>0001</selector><result>pass</result></dkim>
          <dkim><domain>other.example</domain><result>hardfail</result><human_result>body changed</human_result></dkim>
          <spf><domain>b.example</domain><scope>MFROM</scope><result>pass</result></spf>`,
      })}</feedback>`)
    expect(report).toEqual({
      reportId: '7',
      orgName: 'Receiver',
      email: 'd@receiver.example',
      extraContactInfo: 'https://receiver.example/dmarc',
      errors: ['one', 'zwei'],
      dateRange: { begin: new Date('2025-11-20T00:00:00Z'), end: new Date('2025-11-20T23:59:59Z') },
      policyPublished: {
        domain: 'example.com',
        discoveryMethod: 'treewalk',
        p: 'reject',
        sp: 'quarantine',
        np: 'reject',
        adkim: 's',
        aspf: 'r',
        pct: null,
        fo: '1:d',
        testing: 'y',
      },
      version: '1.0',
      generator: 'reporter 2.1',
      namespace: 'urn:ietf:params:xml:ns:dmarc-2.0',
      recordCount: 1,
      skippedRecords: 0,
      warnings: [],
      records: [
        {
          sourceIp: '2001:db8::1',
          count: 12,
          policyEvaluated: {
            disposition: 'quarantine',
            dkim: 'pass',
            spf: 'fail',
            reasons: [{ type: 'mailing_list', comment: 'a list' }],
          },
          identifiers: {
            headerFrom: 'news.example.com',
            envelopeFrom: 'b.example',
            envelopeTo: 'c.example',
          },
          authResults: {
            dkim: [
              { domain: 'example.com', selector: '0001', result: 'pass', humanResult: null },
              {
                domain: 'other.example',
                selector: null,
                result: 'hardfail',
                humanResult: 'body changed',
              },
            ],
            spf: [{ domain: 'b.example', scope: 'mfrom', result: 'pass', humanResult: null }],
          },
        },
      ],
    })
  })

  it('may have a prefix on every element', async () => {
    const plain = reportXml({ head: '' })
    const prefixed = plain.replaceAll(/<(\/?)(\w)/g, '<$1d:$2').replace('>', ' xmlns:d="urn:x">')
    const { namespace, ...read } = await readAggregate(prefixed)
    const { namespace: none, ...expected } = await readAggregate(plain)
    expect(read).toEqual(expected)
    expect([namespace, none]).toEqual(['urn:x', null])
  })

  it('gives no records that stand anywhere else than they belong', async () => {
    const { records } = await readAggregate(reportXml({ records: `<x>${record()}</x>` }))
    expect(records).toEqual([])
  })

  it('may come byte by byte', async () => {
    const bytes = Buffer.from(reportXml())
    async function* trickle() {
      for (const byte of bytes) yield Uint8Array.of(byte)
    }
    expect(await readAggregate(trickle())).toEqual(await readAggregate(bytes))
  })

  it('may call its identifiers identities', async () => {
    const renamed = record().replaceAll('identifiers>', 'identities>')
    expect((await only(renamed))?.identifiers.headerFrom).toBe('example.com')
  })

  it('needs only the reporter, the period and the domain', async () => {
    const range = '<date_range><begin>0</begin><end>0</end></date_range>'
    const metadata = `<report_id>1</report_id>${range}`
    const policy = '<domain>example.com</domain>'
    const records = '<record><row><source_ip>192.0.2.1</source_ip><count>1</count></row></record>'
    const report = await readAggregate(reportXml({ metadata, policy, records }))
    expect(report).toMatchObject({ orgName: '', email: null, recordCount: 1, warnings: [] })
    expect(report.records[0]?.policyEvaluated).toEqual({
      disposition: null,
      dkim: null,
      spf: null,
      reasons: [],
    })
    expect(report.records[0]?.authResults).toEqual({ dkim: [], spf: [] })
  })

  it.each([
    ['report_id', reportXml().replace('r-1', '')],
    ['begin', reportXml().replace('1763596800', 'yesterday')],
    ['end', reportXml().replace('<end>1763683199</end>', '')],
    ['domain', reportXml({ policy: '<p>none</p>' })],
    ['report_metadata', reportXml().replaceAll('report_metadata', 'other')],
    ['policy_published', reportXml().replaceAll('policy_published', 'other')],
  ])('is refused without <%s>', async (name, xml) => {
    expect(await whyNot(xml)).toContain(`<${name}>`)
  })

  it('uses the first of duplicate elements', async () => {
    const xml = reportXml({
      policy: '<domain></domain><domain>a.example</domain><domain>b.example</domain>',
    })
    expect((await readAggregate(xml)).policyPublished.domain).toBe('a.example')
  })

  it.each([
    ['1763596800.9', '2025-11-20T00:00:00.900Z'],
    ['1763596800000', '2025-11-20T00:00:00.000Z'],
    [' 1763596800 ', '2025-11-20T00:00:00.000Z'],
    ['2025-11-20T00:00:00Z', '2025-11-20T00:00:00.000Z'],
    ['0', '1970-01-01T00:00:00.000Z'],
  ])('begins at %j', async (begin, expected) => {
    const { dateRange } = await readAggregate(reportXml().replace('1763596800', begin))
    expect(dateRange.begin.toISOString()).toBe(expected)
  })

  it('of a strange period is read, with a warning', async () => {
    const backwards = await readAggregate(reportXml().replace('1763683199', '1763500000'))
    expect(backwards.warnings).toEqual([expect.stringContaining('ends before it begins')])
    const long = await readAggregate(reportXml().replace('1763683199', '1863683199'))
    expect(long.warnings).toEqual([expect.stringContaining('1158 days')])
  })
})

describe('a record', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8::0:1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:25', '2001:db8::1'],
    ['192.0.2.1:25', '192.0.2.1'],
  ])('comes from %s', async (sourceIp, expected) => {
    const row = `<source_ip>${sourceIp}</source_ip><count>1</count>`
    expect((await only(record({ row })))?.sourceIp).toBe(expected)
  })

  it.each([
    '',
    'unknown',
    '192.0.2',
    '192.0.2.300',
    '010.0.0.1',
    '1',
    '::1%lo',
    '<b>192.0.2.1</b>',
  ])('from %j is left out and counted', async (sourceIp) => {
    const records = record() + record({ row: `<source_ip>${sourceIp}</source_ip><count>1</count>` })
    const report = await readAggregate(reportXml({ records }))
    expect(report).toMatchObject({ recordCount: 1, skippedRecords: 1 })
    expect(report.warnings).toEqual([
      expect.stringContaining('1 record has no valid address or count'),
    ])
  })

  it.each([
    '-1',
    '0',
    '',
    'many',
    '1e3',
    '1.5',
    '2147483648',
    '99999999999999999999',
    'NaN',
    '0x10',
  ])('with a count of %j is left out and counted', async (count) => {
    const row = `<source_ip>192.0.2.1</source_ip><count>${count}</count>`
    const report = await readAggregate(reportXml({ records: record({ row }) }))
    expect(report).toMatchObject({ records: [], recordCount: 0, skippedRecords: 1 })
  })

  it('keeps values that the RFC does not define', async () => {
    const evaluated = '<disposition>pass</disposition><dkim>Unknown</dkim><spf>hardfail</spf>'
    const read = (await only(record({ evaluated })))?.policyEvaluated
    expect(read).toEqual({ disposition: 'pass', dkim: 'unknown', spf: 'hardfail', reasons: [] })
  })

  it('names domains in A-labels', async () => {
    const identifiers = '<header_from>Bücher.Example.</header_from>'
    expect((await only(record({ identifiers })))?.identifiers.headerFrom).toBe(
      'xn--bcher-kva.example',
    )
  })

  it('cuts long words short', async () => {
    const long = 'x'.repeat(100_000)
    const evaluated = `<reason><type>other</type><comment>${long}</comment></reason>`
    const identifiers = `<header_from>${long}</header_from>`
    const read = await only(record({ evaluated, identifiers }))
    expect(read?.policyEvaluated.reasons[0]?.comment).toHaveLength(1_024)
    expect(read?.identifiers.headerFrom).toHaveLength(4_096)
  })
})

describe('broken XML', () => {
  it('is read past where it can be, with a warning', async () => {
    const stray = reportXml({ head: '<?xml version="1.0"?><xs:schema xmlns:xs="x" version="1">\n' })
    expect(await readAggregate(stray)).toMatchObject({ recordCount: 1, warnings: [] })
    const brackets = reportXml().replace('dmarc@receiver.example', '<dmarc@receiver.example>')
    expect(await readAggregate(brackets)).toMatchObject({
      recordCount: 1,
      warnings: [
        expect.stringMatching(/^The XML is not well-formed at line 2, column \d+: disallowed/),
      ],
    })
    const raw = reportXml({
      records: record({ evaluated: '<reason><comment>a < b & c</comment></reason>' }) + record(),
    })
    expect(await readAggregate(raw)).toMatchObject({ recordCount: 2 })
    const ampersand = await readAggregate(
      reportXml().replace('receiver.example', 'Bangs & Olufs; R&D'),
    )
    expect(ampersand).toMatchObject({ orgName: 'Bangs & Olufs; R&D', recordCount: 1, warnings: [] })
  })

  it('may have something before and behind it', async () => {
    expect(
      await readAggregate(`Report follows.\n${reportXml()}\n--\n<b>A footer & more`),
    ).toMatchObject({
      recordCount: 1,
    })
  })

  it('that is truncated is rejected with the position', async () => {
    const xml = reportXml()
    expect(await whyNot(xml.slice(0, -20))).toMatch(/is truncated at line 6, column \d+/)
    for (let end = 60; end < xml.length; end += 7) await whyNot(xml.slice(0, end))
  })

  it('that is invalid throughout is rejected', async () => {
    expect(await whyNot(reportXml({ records: '&x;'.repeat(1_001) }))).toContain(
      'not well-formed at line',
    )
  })

  it.each(['', 'no XML', '<html><body></body></html>', '<feedback', '\0\0\0\0'])(
    '%j is rejected',
    async (xml) => {
      await whyNot(xml)
    },
  )

  it('loses its control characters', async () => {
    const { orgName } = await readAggregate(
      reportXml().replace('receiver.example', 're\u0000cei\u000bver'),
    )
    expect(orgName).toBe('receiver')
  })
})

describe('encodings', () => {
  const umlaut = reportXml().replace('receiver.example', 'Empfänger €')
  const declared = (label: string) => umlaut.replace('UTF-8', label)

  it.each([
    ['UTF-8', Buffer.from(umlaut)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${umlaut}`)],
    ['UTF-16LE with a byte order mark', Buffer.from(`\ufeff${declared('UTF-16')}`, 'utf16le')],
    ['UTF-16LE without one', Buffer.from(declared('UTF-16'), 'utf16le')],
    [
      'UTF-16BE with a byte order mark',
      Buffer.from(`\ufeff${declared('UTF-16')}`, 'utf16le').swap16(),
    ],
    ['UTF-16BE without one', Buffer.from(declared('UTF-16'), 'utf16le').swap16()],
    ['UTF-8 that says UTF-16', Buffer.from(declared('UTF-16'))],
    ['UTF-8 that says nonsense', Buffer.from(declared('x-klingon'))],
    ['windows-1252', Buffer.from(declared('windows-1252').replace('€', '\x80'), 'latin1')],
    ['windows-1251', Buffer.from(declared('windows-1252').replace('€', '\x80'), 'latin1')],
  ])('%s is read', async (_, bytes) => {
    expect((await readAggregate(bytes)).orgName).toBe('Empfänger €')
  })

  it('a character may be cut in two by a chunk', async () => {
    const bytes = Buffer.from(`${umlaut.slice(0, -11)}${' '.repeat(70_000)}${umlaut.slice(-11)}`)
    const at = bytes.indexOf('ä') + 1
    async function* halves() {
      yield bytes.subarray(0, at)
      yield bytes.subarray(at)
    }
    expect((await readAggregate(halves())).orgName).toBe('Empfänger €')
  })

  it('an invalid byte affects only itself', async () => {
    const bytes = Buffer.from(reportXml().replace('receiver.example', 'a\xffb'), 'latin1')
    expect((await readAggregate(bytes)).orgName).toBe('a\ufffdb')
  })
})

describe('hostile XML', () => {
  const BOMB = Array.from(
    { length: 9 },
    (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`,
  ).join('\n')

  it.each([
    ['an entity bomb', `<!DOCTYPE feedback [<!ENTITY e0 "ha">\n${BOMB}]>`, '&e9;'],
    ['an external entity', '<!DOCTYPE feedback [<!ENTITY x SYSTEM "file:///etc/passwd">]>', '&x;'],
    ['an external DTD', '<!DOCTYPE feedback SYSTEM "http://127.0.0.1/x.dtd">', 'x'],
    ['a DOCTYPE in lower case', '<!doctype feedback>', 'x'],
    ['an entity alone', '<!ENTITY x "y">', '&x;'],
  ])('with %s is refused', async (_, head, org) => {
    expect(await whyNot(reportXml({ head }).replace('receiver.example', org))).toContain('DOCTYPE')
  })

  it('with a DOCTYPE inside the report is rejected', async () => {
    expect(await whyNot(reportXml({ records: '<!DOCTYPE x [<!ENTITY y "z">]>' }))).toContain(
      'DOCTYPE',
    )
  })

  it('expands only XML’s own entities', async () => {
    const { orgName } = await readAggregate(
      reportXml().replace('receiver.example', '&lt;&#65;&#x42;&nbsp;&amp;'),
    )
    expect(orgName).toBe('<AB&nbsp;&')
  })

  it.each([
    ['nested elements', '<a>'.repeat(21), 'nested elements'],
    ['millions of them', '<a>'.repeat(3_000_000), 'nested elements'],
    [
      'elements in one record',
      `<record>${'<dkim/>'.repeat(1_001)}</record>`,
      'elements in one record',
    ],
    [
      'attributes',
      `<a ${Array.from({ length: 51 }, (_, n) => `a${n}=""`).join(' ')}/>`,
      'attributes on one element',
    ],
  ])('with too many %s is refused', async (_, records, complaint) => {
    expect(await whyNot(reportXml({ records }))).toContain(complaint)
  })

  it('cannot reach a prototype', async () => {
    const records = record({
      results: '<__proto__><domain>x</domain></__proto__><constructor/><toString/>',
    })
    expect((await readAggregate(reportXml({ records }))).records[0]?.authResults).toEqual({
      dkim: [],
      spf: [],
    })
  })
})

describe('a large report', () => {
  it(
    'of 100,000 records is read in a few seconds, one record at a time',
    { timeout: 60_000 },
    async () => {
      let [messages, waiting, most] = [0, 0, 0]
      const started = performance.now()
      const report = await readReport(openReports(manyRecords(100_000)), async ({ count }) => {
        most = Math.max(most, ++waiting)
        messages += count
        await Promise.resolve()
        waiting--
      })
      expect(report).toMatchObject({ recordCount: 100_000, skippedRecords: 0 })
      expect(messages).toBe(499_996)
      expect(most).toBe(1)
      // Some two seconds; the machine that runs the tests may be busy.
      expect(performance.now() - started).toBeLessThan(30_000)
    },
  )

  it('stops at the first record that its consumer rejects', async () => {
    let taken = 0
    const taker = () => {
      taken++
      throw new Error('no')
    }
    await expect(readReport(openReports(manyRecords(5_000)), taker)).rejects.toThrow('no')
    expect(taken).toBe(1)
  })
})

describe('the key of a report', () => {
  const keyOf = async (xml: string) => reportKey(await readAggregate(xml))

  it('is the same for a copy with another spelling', async () => {
    const copy = reportXml({ records: '' })
      .replace('receiver.example', 'Receiver.Example')
      .replace('r-1', '&lt;r-1&gt;')
    expect(await keyOf(copy)).toBe(await keyOf(reportXml()))
  })

  it.each([
    ['reporter', 'receiver.example', 'other.example'],
    ['domain', '>example.com<', '>www.example.com<'],
    ['id', 'r-1', 'r-2'],
    ['begin', '1763596800', '1763596801'],
    ['end', '1763683199', '1763683198'],
  ])('differs with the %s', async (_, from, to) => {
    expect(await keyOf(reportXml().replace(from, to))).not.toBe(await keyOf(reportXml()))
  })
})

describe('garbage', () => {
  const pieces = reportXml().split(/(?=<)|(?<=>)/)

  it('is read or rejected with an error', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...pieces,
        '<![CDATA[',
        ']]>',
        '<!--',
        '-->',
        '<?',
        '&#0;',
        '&#x110000;',
        '<a b=c>',
        '\ud800',
      ),
      anyText({ maxLength: 8 }),
    )
    const text = fc
      .tuple(fc.nat(pieces.length), fc.array(piece, { maxLength: 12 }))
      .map(([at, inserted]) => {
        return [
          ...pieces.slice(0, at),
          ...inserted,
          ...pieces.slice(at + (inserted.length % 3)),
        ].join('')
      })
    await fc.assert(
      fc.asyncProperty(text, async (xml) => {
        const outcome = await readAggregate(xml).catch((error: unknown) => error)
        if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'Fault' })
        else expect(outcome).toMatchObject({ policyPublished: { domain: expect.any(String) } })
      }),
      { numRuns: 500 },
    )
  })

  it('may be bytes', async () => {
    const mangled = fc
      .tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 20 }))
      .map(([at, bytes]) => {
        const report = Buffer.from(reportXml())
        report.set(bytes.slice(0, report.length - (at % report.length)), at % report.length)
        return report
      })
    await fc.assert(
      fc.asyncProperty(fc.oneof(mangled, fc.uint8Array()), async (bytes) => {
        const outcome = await readAggregate(bytes).catch((error: unknown) => error)
        if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'Fault' })
      }),
      { numRuns: 500 },
    )
  })
})
