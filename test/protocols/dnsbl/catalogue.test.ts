import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Fault } from '../../../src/errors.ts'
import { readCatalogue } from '../../../src/protocols/dnsbl/blocklist-catalogue.ts'
import { createBlocklists } from '../../../src/protocols/dnsbl/blocklists.ts'
import { nxdomain } from './dnsbl-answers.ts'

const folder = mkdtempSync(join(tmpdir(), 'portreeve-catalogue-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(content: unknown): string {
  const file = join(folder, 'lists.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const entry = { name: 'Ours', zone: 'bl.example.com', category: 'major' }

function complaint(content: unknown): string {
  try {
    readCatalogue(fileOf(content))
  } catch (error) {
    if (error instanceof Fault) return error.message
  }
  return 'no complaint'
}

describe('the shipped catalogue', () => {
  const { lists, warnings } = readCatalogue()

  it('has more than eighty lists that need no account', () => {
    expect(lists.filter((list) => list.enabled && list.access !== 'key').length).toBeGreaterThan(80)
    expect(warnings).toEqual([])
  })
  it('names none of the retired or excluded zones', () => {
    expect(readOwn(...lists.map((list) => list.zone))).toEqual([])
  })
  it('enables no list that requires a key', () => {
    expect(lists.filter((list) => list.enabled && list.access === 'key')).toEqual([])
  })
  it('names in “includes” only zones it has', () => {
    const zones = new Set(lists.map((list) => list.zone))
    expect(lists.flatMap((list) => list.includes).filter((zone) => !zones.has(zone))).toEqual([])
  })
})

function readOwn(...zones: string[]): string[] {
  return readCatalogue(fileOf({ lists: zones.map((zone) => ({ ...entry, zone })) })).warnings
}

describe("an operator's own catalogue", () => {
  it('needs no more than name, zone and category', () => {
    const [list] = readCatalogue(fileOf({ lists: [{ ...entry, zone: 'BL.Example.com.' }] })).lists
    expect(list).toMatchObject({
      zone: 'bl.example.com',
      enabled: true,
      access: 'open',
      codes: {},
      scope: 'ip',
    })
  })
  it('gets a hint for a discontinued zone, and for an allowlist', () => {
    expect(readOwn('dnsbl.sorbs.net')).toEqual([
      expect.stringContaining('shut down by Proofpoint in June 2024'),
    ])
    expect(readOwn('list.dnswl.org')).toEqual([
      expect.stringContaining('allow lists: a hit is good news'),
    ])
  })
  it.each([
    ['lists[1] is missing zone', { lists: [entry, { name: 'x', category: 'major' }] }],
    [
      'lists[0].category must be one of critical, major, minor, informational',
      { lists: [{ ...entry, category: 'bad' }] },
    ],
    ['lists[0].name must not be empty', { lists: [{ ...entry, name: '' }] }],
    ['lists must not be empty', { lists: [] }],
    ['lists[0].zone is not a domain name', { lists: [{ ...entry, zone: 'not a zone' }] }],
    [
      'lists[1].zone repeats bl.example.com',
      { lists: [entry, { ...entry, zone: 'BL.example.com' }] },
    ],
    ['lists[0].keyTemplate must contain {key}', { lists: [{ ...entry, access: 'key' }] }],
    ['lists[0].codes must have the answers', { lists: [{ ...entry, strictCodes: true }] }],
    [
      'lists[0].codes has “127.255.255.254”',
      { lists: [{ ...entry, codes: { '127.255.255.254': 'x' } }] },
    ],
    ['lists[0].codes has “10.0.0.1”', { lists: [{ ...entry, codes: { '10.0.0.1': 'x' } }] }],
    [
      'lists[0].delisting.url is not an http URL',
      { lists: [{ ...entry, delisting: { method: 'form', url: 'javascript:x' } }] },
    ],
    ['lists[0].enabled must be boolean', { lists: [{ ...entry, enabled: 'yes' }] }],
    ['the file must be object', '[]'],
    ['is not JSON', '{"lists": ['],
  ])('is refused with the sentence “%s”', (sentence, content) => {
    expect(complaint(content)).toContain(sentence)
    expect(complaint(content)).toContain('lists.json')
  })
  it('is rejected with the first five of many errors', () => {
    const message = complaint({
      lists: Array.from({ length: 9 }, () => ({ ...entry, category: 'x' })),
    })
    expect(message.match(/must be one of/g)).toHaveLength(5)
    expect(message).toContain('; and more.')
  })
  it('is rejected with its name when the file does not exist', () => {
    expect(() => readCatalogue(join(folder, 'nothing.json'))).toThrow(
      /nothing\.json cannot be read/,
    )
  })
})

describe('the lists that are queried', () => {
  const resolver = { query: async () => nxdomain, servers: [] }
  const open = (keys: Record<string, string>, catalogue = readCatalogue()) =>
    createBlocklists({ catalogue, keys: new Map(Object.entries(keys)), resolver })
  const zonesOf = (blocklists: ReturnType<typeof open>) => blocklists.lists.map((list) => list.zone)

  it('are the ones that need no key, until a key is configured', () => {
    expect(zonesOf(open({}))).not.toContain('combined.mail.abusix.zone')
    expect(zonesOf(open({ 'combined.mail.abusix.zone': 'k' }))).toContain(
      'combined.mail.abusix.zone',
    )
  })
  it('use the key of a list that includes them', () => {
    const blocklists = open({ 'zen.spamhaus.org': 'k', 'pbl.spamhaus.org': 'own' })
    const keyOf = (zone: string) =>
      blocklists.lists.filter((list) => list.zone === zone).map(blocklists.keyOf)[0]
    expect([
      keyOf('zen.spamhaus.org'),
      keyOf('sbl.spamhaus.org'),
      keyOf('pbl.spamhaus.org'),
    ]).toEqual(['k', 'k', 'own'])
    expect(keyOf('bl.spamcop.net')).toBeUndefined()
  })
  it('come with a warning for an unused key, and for a blocklist whose key is missing', () => {
    expect(open({ 'bl.spamcop.net': 'k' }).warnings).toEqual([
      expect.stringContaining('bl.spamcop.net'),
    ])
    const own = readCatalogue(
      fileOf({ lists: [{ ...entry, access: 'key', keyTemplate: '{key}.bl.example.com' }] }),
    )
    expect(open({}, own).warnings).toEqual([
      expect.stringContaining('Ours is not queried because it needs a key'),
    ])
  })
})
