import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readReports, type ReadResult } from '../../src/dmarc/intake/read-reports.ts'
import { REPORT_LIMITS } from '../../src/protocols/reports/report-limits.ts'
import { anyText } from '../any-text.ts'
import { propertyRuns } from '../property-runs.ts'
import { aggregate, daysAgo, tlsReport } from './reports.ts'

async function read(file: string | Uint8Array, name = 'file', domain?: string) {
  const bytes = typeof file === 'string' ? Buffer.from(file, 'utf8') : file
  return Array.fromAsync(readReports(bytes, name, { domain }))
}

/** What is stored of the reports, and why the others are not. */
function facts(results: ReadResult[]): unknown[] {
  return results.map((item) => {
    if (item.kind === 'aggregate') return [item.key, item.report, item.parts, item.tallies]
    if (item.kind === 'tls') return [item.key, item.report]
    return item.kind === 'unread' ? item.reason : item.kind
  })
}

const XML = aggregate({ id: 'one', rows: [{ count: 2 }, { ip: '192.0.2.2', spf: 'fail' }] })
const OTHER = aggregate({ id: 'two', rows: [{ count: 7 }] })
const begin = daysAgo(1)

describe('what follows a report', () => {
  it.each([
    ['an HTML footer', `<!DOCTYPE html><html>${'<div>'.repeat(100)}Sent by &nbsp; us</html>`],
    ['unclosed tags', '<a>'.repeat(5_000)],
    ['closing tags', '</feedback>'.repeat(30)],
    ['an attribute after the other', `<a ${'b="c" '.repeat(100)}>`],
    ['entities', '<!ENTITY a "b">&a;&&&'],
    ['the start of a comment', '<!-- '],
    ['zero bytes', '\0'.repeat(3_000)],
    ['text of a megabyte', 'x'.repeat(2_000_000)],
  ])('is ignored: %s', async (_, content) => {
    expect(facts(await read(XML + content))).toEqual(facts(await read(XML)))
  })

  it('is a second report, and stored', async () => {
    const [both, one, other] = await Promise.all([XML + OTHER, XML, OTHER].map((xml) => read(xml)))
    expect(facts(both ?? [])).toEqual([...facts(one ?? []), ...facts(other ?? [])])
  })

  it('is stored although the report before lacks its name', async () => {
    const nameless = XML.replace('<report_id>one</report_id>', '')
    expect(facts(await read(nameless + OTHER))).toEqual([
      'The report has no valid <report_id> element.',
      ...facts(await read(OTHER)),
    ])
  })

  it('is named when it is truncated, with its line in the file', async () => {
    const [, second] = facts(await read(XML + OTHER.slice(0, 400)))
    const lines = (XML + OTHER.slice(0, 400)).split('\n').length
    expect(second).toContain(`The XML is truncated at line ${lines},`)
  })

  it('is not read when it has a document type', async () => {
    const other = `<!DOCTYPE feedback [<!ENTITY a "b">]>${OTHER}`
    expect(facts(await read(XML + other)).slice(1)).toEqual([
      'The XML has a DOCTYPE, which is not allowed.',
    ])
  })

  it('is read up to a limit', async () => {
    const small = '<feedback/>'
    const results = await read(small.repeat(REPORT_LIMITS.entries + 50))
    expect(results).toHaveLength(REPORT_LIMITS.entries + 1)
    expect(facts(results).at(-1)).toContain('contains more than 1,000 reports')
  })

  it('is ignored or stored in files of TLS reports, too', async () => {
    const [one, two] = [tlsReport({ id: 'one' }), tlsReport({ id: '}{"\\' })]
    const [first, second] = [await read(one), await read(two)].map(facts)
    expect(facts(await read(`${one}\n${two}`))).toEqual([...(first ?? []), ...(second ?? [])])
    for (const rest of ['}', '\n-- \nSent by us {', '\0'.repeat(100), ' '.repeat(2_000) + two])
      expect(facts(await read(one + rest)), rest).toEqual(first)
    expect(facts(await read(`${one} ${two.slice(0, -5)}`)).at(1)).toBe(
      'The JSON is damaged or truncated.',
    )
  })
})

describe('the same report', () => {
  const junk = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '<',
          '>',
          '</',
          '&',
          ';',
          ']]>',
          '<![CDATA[',
          '<!--',
          '-->',
          '<?',
          '"',
          '=',
        ),
        fc.constantFrom(
          '<p>',
          '<br/>',
          '</feedback>',
          '<!DOCTYPE html>',
          '<x:y ',
          '\r\n',
          '\ufdd0',
        ),
        anyText({ maxLength: 20 }),
      ),
      { maxLength: 60 },
    )
    .map((pieces) => pieces.join('').replaceAll(/<(\w+:)?feedback/g, ''))
  const runs = propertyRuns(200, 4000)

  it('is read from a file with any content behind it', async () => {
    const plain = facts(await read(XML))
    const property = fc.asyncProperty(junk, async (content) => {
      expect(facts(await read(XML + content))).toEqual(plain)
    })
    await fc.assert(property, runs)
  })

  it('is read from several in a file, whatever is between', async () => {
    const documents = [XML, OTHER, aggregate({ id: 'three', rows: [] })]
    const known = new Map<string, unknown[]>()
    for (const xml of documents) known.set(xml, facts(await read(xml)))
    const between = junk.map((text) => text.replaceAll(/<!(?=DOCTYPE|ENTITY)/gi, ''))
    const parts = fc.array(fc.tuple(fc.constantFrom(...documents), between), {
      minLength: 1,
      maxLength: 6,
    })
    const property = fc.asyncProperty(parts, async (all) => {
      const file = all.map((pieces) => pieces.join('')).join('')
      expect(facts(await read(file))).toEqual(all.flatMap(([xml]) => known.get(xml) ?? []))
    })
    await fc.assert(property, runs)
  })

  it('is read with CDATA sections in place of any text', async () => {
    const name = 'A & B &amp; <C> &lt;'
    const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    const xml = aggregate({
      id: 'cdata',
      org: 'r.test',
      rows: [{ reason: { type: 'other', comment: escaped(name) } }],
      begin,
    })
    const plain = facts(await read(xml))
    const texts = [...xml.matchAll(/>([^<>]*[\w;][^<>]*)</g)].map(({ index, 1: text = '' }) => ({
      at: index + 1,
      text,
    }))
    const choice = fc.array(fc.nat(60), { minLength: texts.length, maxLength: texts.length })
    const property = fc.asyncProperty(choice, async (splits) => {
      const file = texts.reduceRight((all, { at, text }, index) => {
        const literal = text.replaceAll('&lt;', '<').replaceAll('&amp;', '&')
        const split = splits[index] ?? 0
        // Part of it remains as it is.
        const head = literal.slice(0, split)
        const tail = literal.slice(split)
        const section = split === 60 ? text : `${escaped(head)}<![CDATA[${tail}]]>`
        return all.slice(0, at) + section + all.slice(at + text.length)
      }, xml)
      expect(facts(await read(file))).toEqual(plain)
    })
    await fc.assert(property, runs)
  })

  it('has a name with a lone ampersand as it is written, in a CDATA section or not', async () => {
    for (const name of [
      'A & B',
      '<![CDATA[A & B]]>',
      'A &amp; B',
      '<![CDATA[A ]]>&<![CDATA[ B]]>',
    ]) {
      const [found] = await read(
        aggregate({ org: 'r.test' }).replace('<org_name>r.test', `<org_name>${name}`),
      )
      expect(found).toMatchObject({ report: { orgName: 'A & B' } })
    }
  })

  it('is read from gzip with several members, however they are split', async () => {
    const bytes = Buffer.from(XML + OTHER)
    const plain = facts(await read(bytes))
    const cuts = fc.array(fc.nat(bytes.length), { maxLength: 8 })
    const property = fc.asyncProperty(
      cuts,
      fc.constantFrom('', '\r\n', '\0\0'),
      async (all, tail) => {
        const at = [0, ...all.toSorted((a, b) => a - b), bytes.length]
        const members = at.slice(1).map((end, index) => gzipSync(bytes.subarray(at[index], end)))
        expect(facts(await read(Buffer.concat([...members, Buffer.from(tail)])))).toEqual(plain)
      },
    )
    await fc.assert(property, runs)
  })
})

describe('a TLS report without a policy domain', () => {
  const nameless = tlsReport()
    .replace(/"policy-domain":"[^"]*",/, '')
    .replace('"sts"', '"no-policy-found"')
  const mailOf = (fields: string) =>
    `From: a@r.test\r\n${fields}MIME-Version: 1.0\r\nContent-Type: application/tlsrpt+json\r\n\r\n${nameless}`
  const domains = (results: ReadResult[]) =>
    results.map((each) => (each.kind === 'tls' ? each.report.policies[0]?.policyDomain : each))

  it('belongs to the domain of its header, of its name or of its address', async () => {
    expect(domains(await read(mailOf('TLS-Report-Domain: B.test\r\n'), 'mail', 'c.test'))).toEqual([
      'b.test',
    ])
    expect(domains(await read(nameless, 'r.test!A.test!1!2!001.json.gz', 'c.test'))).toEqual([
      'a.test',
    ])
    expect(domains(await read(mailOf(''), 'mail', 'c.test'))).toEqual(['c.test'])
  })

  it('is not read where nothing names it', async () => {
    expect(facts(await read(nameless))).toEqual(['The report has no valid “policy-domain”.'])
  })

  it('keeps the domain that a policy names', async () => {
    expect(domains(await read(tlsReport(), 'r.test!a.test!1!2.json', 'c.test'))).toEqual([
      'example.test',
    ])
  })
})
