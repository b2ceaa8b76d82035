import { statSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { keyOf } from '../../../scripts/asn-operators.ts'
import { tableOf } from '../../../scripts/asn-table.ts'
import {
  encodeCompactTable,
  readCompactTable,
} from '../../../src/protocols/networks/asn-compact.ts'
import { parseAsnTable, readShippedTable } from '../../../src/protocols/networks/load-asn-table.ts'
import { ROOT } from '../../../src/version.ts'

const IPV4 = `9.0.0.0,9.0.0.255,100,"Host, Inc."
9.0.1.0,9.0.1.255,100,"Host, Inc."
9.0.3.0,9.0.3.255,200,Host GmbH
9.0.4.0,9.0.4.255,64512,Private use
9.0.5.0,9.0.5.255,300,-Reserved AS-
223.255.255.0,223.255.255.255,4199999999,The Last Ltd
`
const IPV6 = `2001:200::,2001:200:1b9:ffff:ffff:ffff:ffff:ffff,100,"Host, Inc."
2a00::,2a00:7:ffff:ffff:ffff:ffff:ffff:ffff,400,Another
`

const read = () =>
  readCompactTable(encodeCompactTable(tableOf({ ipv4: IPV4, ipv6: IPV6 }, '2026-06-17')))
const numberOf = (address: string) => read().find(address)?.number ?? null

describe('a compact table of autonomous systems', () => {
  it('finds the first and the last address of a range, and nothing beside it', () => {
    const cases: [string, number | null][] = [
      ['0.0.0.0', null],
      ['8.255.255.255', null],
      ['9.0.0.0', 100],
      ['9.0.1.255', 100],
      ['9.0.2.0', null],
      ['9.0.2.255', null],
      ['9.0.3.0', 200],
      ['9.0.3.255', 200],
      ['223.255.254.255', null],
      ['223.255.255.255', 4_199_999_999],
      ['224.0.0.0', null],
      ['255.255.255.255', null],
      ['::', null],
      ['::1', null],
      ['2001:1ff:ffff::', null],
      ['2001:200::', 100],
      ['2001:200:1b9:ffff:ffff:ffff:ffff:ffff', 100],
      ['2001:200:1ba::', null],
      ['2a00:7:ffff::1', 400],
      ['2a00:8::', null],
      ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
    ]
    for (const [address, number] of cases)
      expect([address, numberOf(address)]).toEqual([address, number])
  })

  it('ignores systems for private use, and reserved ones', () => {
    expect([numberOf('9.0.4.1'), numberOf('9.0.5.1')]).toEqual([null, null])
  })

  it('knows which systems belong to one operator, and when it was made', () => {
    const made = read()
    expect([100, 200, 400, 500].map((number) => made.operatorOf?.(number))).toEqual([
      100, 100, 400, 500,
    ])
    expect(made.date).toBe('2026-06-17')
  })

  it('is not read when it is cut off or of another version', () => {
    const bytes = encodeCompactTable(tableOf({ ipv4: IPV4, ipv6: IPV6 }, '2026-06-17'))
    for (let length = 8; length < bytes.length; length++)
      expect(() => readCompactTable(bytes.subarray(0, length))).toThrow('is truncated')
    const newer = Buffer.from(bytes)
    newer[8] = 2
    expect(() => readCompactTable(newer)).toThrow('version 2')
  })
})

describe('names of operators', () => {
  it('are the same for subsidiaries of one provider', () => {
    const groups = [
      ['Hetzner Online GmbH', 'HETZNER-AS - Hetzner Online AG'],
      ['Contabo GmbH', 'Contabo Inc.', 'Contabo Asia Private Limited'],
      ['"Amazon.com, Inc."', 'Amazon Data Services Ireland Ltd'],
      ['Akamai Technologies, Inc.', 'Linode, LLC'],
      ['WorldStream B.V.', 'Worldstream Network B.V.'],
      ['Example Networks S.A.S.', 'EXAMPLE NETWORKS LTD'],
    ]
    for (const group of groups) expect([group, new Set(group.map(keyOf)).size]).toEqual([group, 1])
  })

  it('are different for different companies', () => {
    const names = [
      'Hetzner Online GmbH',
      'OVH SAS',
      'Orange S.A.',
      'Vodafone GmbH',
      'Rawstone Ltd',
      'Ovhidiu Srl',
    ]
    expect(new Set(names.map(keyOf)).size).toBe(names.length)
  })
})

describe('the shipped table', () => {
  const path = join(ROOT, 'data', 'asn', 'table.bin.br')

  it('is small, and knows large networks', () => {
    expect(statSync(path).size).toBeLessThan(3_000_000)
    const shipped = readShippedTable(path)
    const operatorOf = (address: string) =>
      shipped?.operatorOf?.(shipped.find(address)?.number ?? 0)
    expect(operatorOf('8.8.8.8')).toBe(15_169)
    expect(operatorOf('2606:4700::1')).toBe(13_335)
    expect(operatorOf('2a01:4f8::1')).toBe(operatorOf('5.161.1.1'))
    expect(shipped?.find('10.0.0.1')).toBeNull()
    const readme = readFileSync(join(ROOT, 'data', 'asn', 'README.md'), 'utf8')
    expect(readme).toContain(`| Data of | ${shipped?.date} |`)
  })

  it('is published with the notices that its licence requires', () => {
    const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      files: string[]
    }
    expect(files).toContain('data/asn')
    const readme = readFileSync(join(ROOT, 'data', 'asn', 'README.md'), 'utf8')
    for (const part of [
      'CC BY 4.0',
      'https://db-ip.com',
      'Changes',
      `${statSync(path).size.toLocaleString('en')} bytes`,
    ])
      expect(readme).toContain(part)
    expect(readFileSync(join(ROOT, 'web', 'src', 'pages', 'address.tsx'), 'utf8')).toContain(
      'https://db-ip.com',
    )
  })

  it('can be named in ASN_DB_PATH as any other', () => {
    const table = parseAsnTable(brotliDecompressSync(readFileSync(path)))
    expect(table.find('8.8.8.8')?.number).toBe(15_169)
  })

  it('is done without when it is not there', () => {
    expect(readShippedTable('/nowhere/table.bin.br')).toBeNull()
  })
})
