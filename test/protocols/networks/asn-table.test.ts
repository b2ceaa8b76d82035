import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Fault } from '../../../src/errors.ts'
import { parseAsnTable, readAsnTable } from '../../../src/protocols/networks/load-asn-table.ts'

const LINES = [
  '1.0.0.0\t1.0.0.255\t13335\tUS\tCLOUDFLARENET',
  '1.0.1.0\t1.0.3.255\t0\tNone\tNot routed',
  '8.8.8.0\t8.8.8.255\t15169\tUS\tGOOGLE',
  '2606:4700::\t2606:4700:ffff:ffff:ffff:ffff:ffff:ffff\t13335\tUS\tCLOUDFLARENET',
  '2a00:1450::\t2a00:1450:ffff:ffff:ffff:ffff:ffff:ffff\t15169\tUS\tGOOGLE',
].join('\n')
const CLOUDFLARE = { number: 13335, name: 'CLOUDFLARENET' }
const GOOGLE = { number: 15169, name: 'GOOGLE' }

describe('a table of lines', () => {
  const table = parseAsnTable(Buffer.from(LINES))

  it('finds the system of an address, including the first and last of a range', () => {
    for (const ip of [
      '1.0.0.0',
      '1.0.0.255',
      '2606:4700::',
      '2606:4700:ffff:ffff:ffff:ffff:ffff:ffff',
    ])
      expect([ip, table.find(ip)]).toEqual([ip, CLOUDFLARE])
    for (const ip of ['8.8.8.8', '::ffff:8.8.8.8', '2a00:1450:4001::1'])
      expect([ip, table.find(ip)]).toEqual([ip, GOOGLE])
  })

  it('finds nothing for an unannounced address, or one between two ranges', () => {
    const others = [
      '1.0.1.1',
      '0.255.255.255',
      '1.0.4.0',
      '8.8.9.0',
      '255.255.255.255',
      '::',
      '2606:4701::',
      'ff02::1',
    ]
    for (const ip of others) expect([ip, table.find(ip)]).toEqual([ip, null])
  })

  it('is the same compressed, and with other line endings', () => {
    expect(parseAsnTable(gzipSync(LINES)).find('8.8.8.8')).toEqual(GOOGLE)
    expect(parseAsnTable(Buffer.from(LINES.replaceAll('\n', '\r\n'))).find('2606:4700::1')).toEqual(
      CLOUDFLARE,
    )
  })

  it('agrees with a linear search for any address', () => {
    const bounds = fc.uniqueArray(fc.integer({ min: 0, max: 0xffff_ffff }), {
      minLength: 2,
      maxLength: 60,
    })
    const ipOf = (n: number) =>
      ipaddr.fromByteArray([n >>> 24, (n >> 16) & 255, (n >> 8) & 255, n & 255]).toString()
    fc.assert(
      fc.property(bounds, fc.integer({ min: 0, max: 0xffff_ffff }), (numbers, asked) => {
        const sorted = numbers.toSorted((a, b) => a - b)
        const ranges = sorted.flatMap((start, n) =>
          n % 2 || n + 1 === sorted.length ? [] : [[start, sorted[n + 1]]],
        )
        const text = ranges
          .map(([start = 0, end = 0], n) => `${ipOf(start)}\t${ipOf(end)}\t${n + 1}`)
          .join('\n')
        const at = ranges.findIndex(([start = 0, end = 0]) => asked >= start && asked <= end)
        expect(parseAsnTable(Buffer.from(text)).find(ipOf(asked))?.number ?? 0).toBe(at + 1)
      }),
    )
  })

  it('accepts IPv6 addresses in every form', () => {
    const all = parseAsnTable(
      Buffer.from('::\t::0.0.0.255\t7\n2001:DB8::\t2001:db8::ffff:1.2.3.4\t8'),
    )
    expect([all.find('::1'), all.find('2001:db8::1'), all.find('2001:db8:0:1::')]).toMatchObject([
      { number: 7 },
      { number: 8 },
      null,
    ])
  })

  it('names the wrong line', () => {
    const wrong: [string, RegExp][] = [
      ['', /is empty/],
      ['<html>Not found</html>', /line 1 is not/],
      [`${LINES}\n9.9.9.0\t9.9.9.255\tAS1`, /line 6 is not/],
      ['1.0.0.0\t2606:4700::\t1', /line 1 is not/],
      ['1.0.0.9\t1.0.0.0\t1', /line 1 ends before/],
      ['8.0.0.0\t8.0.0.9\t1\n8.0.0.9\t8.0.0.10\t1', /line 2 is not in ascending order/],
    ]
    for (const [text, sentence] of wrong)
      expect(() => parseAsnTable(Buffer.from(text))).toThrow(sentence)
  })
})

const GEOLITE = { autonomous_system_number: 15169, autonomous_system_organization: 'GOOGLE' }

describe.each([24, 28, 32])('an mmdb with records of %i bits', (size) => {
  const records = {
    '8.8.8.0/24': GEOLITE,
    '2606:4700::/32': { asn: 'AS13335', as_name: 'CLOUDFLARENET' },
  }

  it('finds the system of an address, of both families', () => {
    const table = parseAsnTable(mmdb(records, size))
    expect(table.find('8.8.8.8')).toEqual(GOOGLE)
    expect(table.find('2606:4700::1')).toEqual(CLOUDFLARE)
    for (const ip of ['8.8.9.8', '2606:4701::1', '0.0.0.0'])
      expect([ip, table.find(ip)]).toEqual([ip, null])
  })

  it('is read compressed', () => {
    expect(parseAsnTable(gzipSync(mmdb(records, size))).find('8.8.8.8')).toEqual(GOOGLE)
  })
})

describe('an mmdb', () => {
  it('of other data, or truncated, is rejected with the reason', () => {
    const city = mmdb({ '8.8.8.0/24': { city: 'Mountain View' } }, 24)
    expect(() => parseAsnTable(city)).toThrow('has no autonomous systems')
    const whole = mmdb({ '8.8.8.0/24': GEOLITE }, 24)
    expect(() => parseAsnTable(whole.subarray(400))).toThrow('is truncated')
  })

  it('with random damage is rejected, or still works', () => {
    const whole = mmdb({ '8.8.8.0/24': GEOLITE, '2606:4700::/32': GEOLITE }, 28)
    const byte = fc.record({ at: fc.nat(whole.length - 1), value: fc.nat(255) })
    fc.assert(
      fc.property(fc.array(byte, { minLength: 1, maxLength: 8 }), (changes) => {
        const broken = Buffer.from(whole)
        for (const { at, value } of changes) broken[at] = value
        try {
          const table = parseAsnTable(broken)
          for (const ip of ['8.8.8.8', '2606:4700::1', '0.0.0.0', 'ffff::'])
            expect(table.find(ip)?.number ?? 1).toBeGreaterThan(0)
        } catch (error) {
          // Out of its bounds, or a sentence of ours: never a defect such as a TypeError.
          expect([Error, RangeError]).toContain((error as Error).constructor)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('a table on disk', () => {
  it('that cannot be used is a sentence with its path', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-asn-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'table.tsv.gz')
    expect(() => readAsnTable(path)).toThrow(
      /ASN_DB_PATH: .*table\.tsv\.gz is not a usable table .*no such file/,
    )
    writeFileSync(path, gzipSync(LINES).subarray(0, 60))
    expect(() => readAsnTable(path)).toThrow(Fault)
    writeFileSync(path, gzipSync(LINES))
    expect(readAsnTable(path).find('8.8.8.8')).toEqual(GOOGLE)
  })
})

// --- a writer, as the format's specification has it ---

type Value = string | number | { [key: string]: Value }
type Node = { children: [Node | null, Node | null]; value?: Value }

/** IPv4 under ::/96, every value written where it is used. */
function mmdb(records: Record<string, Value>, size: number): Buffer {
  const root: Node = { children: [null, null] }
  for (const [cidr, value] of Object.entries(records)) insert(root, cidr, value)
  const nodes = nodesOf(root)
  const data: Buffer[] = []
  const recordOf = (node: Node | null): number => {
    if (!node) return nodes.length
    if (node.value === undefined) return nodes.indexOf(node)
    const offset = data.reduce((sum, { length }) => sum + length, 0)
    data.push(encode(node.value))
    return nodes.length + 16 + offset
  }
  const tree = nodes.map(({ children: [left, right] }) =>
    packNode(recordOf(left), recordOf(right), size),
  )
  const metadata = encode({
    node_count: nodes.length,
    record_size: size,
    ip_version: 6,
    database_type: 'Test',
  })
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([...tree, Buffer.alloc(16), ...data, marker, metadata])
}

function insert(root: Node, cidr: string, value: Value): void {
  const [address, length] = ipaddr.parseCIDR(cidr)
  const bytes = address.toByteArray()
  const bits = [...Array<number>(16 - bytes.length).fill(0), ...bytes].flatMap((byte) =>
    Array.from({ length: 8 }, (_, n) => (byte >> (7 - n)) & 1),
  )
  let node = root
  for (const bit of bits.slice(0, length + 128 - bytes.length * 8))
    node = node.children[bit as 0 | 1] ??= { children: [null, null] }
  node.value = value
}

function nodesOf(node: Node | null): Node[] {
  return node === null || node.value !== undefined ? [] : [node, ...node.children.flatMap(nodesOf)]
}

function packNode(left: number, right: number, size: number): Buffer {
  const packed = Buffer.alloc(size / 4)
  if (size === 24) packed.writeUIntBE(right, packed.writeUIntBE(left, 0, 3), 3)
  if (size === 32) packed.writeUInt32BE(right, packed.writeUInt32BE(left, 0))
  if (size === 28) {
    packed.writeUIntBE(left & 0xffffff, 0, 3)
    packed.writeUInt8(((left >>> 24) << 4) | (right >>> 24), 3)
    packed.writeUIntBE(right & 0xffffff, 4, 3)
  }
  return packed
}

function encode(value: Value): Buffer {
  if (typeof value === 'string')
    return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([control(6, 4), bytes])
  }
  const entries = Object.entries(value)
  return Buffer.concat([
    control(7, entries.length),
    ...entries.flatMap(([key, one]) => [encode(key), encode(one)]),
  ])
}

const control = (type: number, size: number) =>
  size < 29 ? Buffer.from([(type << 5) | size]) : Buffer.from([(type << 5) | 29, size - 29])
