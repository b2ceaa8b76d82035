import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  mapFolders,
  splitPath,
  simplerNames,
  type Hierarchy,
  type MappingOptions,
} from '../../src/migration/engine/plan/mapping.ts'
import { encodeMailbox } from '../../src/net/imap/folders/mailbox-name.ts'

const SLASH: Hierarchy = { delimiter: '/', prefix: '' }
const COURIER: Hierarchy = { delimiter: '.', prefix: 'INBOX.' }
const DOT: Hierarchy = { delimiter: '.', prefix: '' }

function map(
  paths: string[],
  from: Hierarchy,
  to: Hierarchy,
  options: Partial<MappingOptions> = {},
): string[] {
  const all = { prefix: '', folderMap: {}, specialUse: new Map(), ...options }
  return mapFolders(
    paths.map((path) => ({ path })),
    from,
    to,
    all,
  ).map(({ destination }) => destination)
}

describe('folder mapping', () => {
  it('converts delimiter and namespace, and keeps INBOX (1)', () => {
    expect(map(['INBOX', 'Sent', 'a/b'], SLASH, COURIER)).toEqual([
      'INBOX',
      'INBOX.Sent',
      'INBOX.a.b',
    ])
    expect(map(['INBOX', 'INBOX.Sent', 'INBOX.a.b'], COURIER, SLASH)).toEqual([
      'INBOX',
      'Sent',
      'a/b',
    ])
    expect(map(['INBOX', 'INBOX.Sent'], COURIER, COURIER)).toEqual(['INBOX', 'INBOX.Sent'])
  })
  it('does not nest a folder below INBOX twice (1)', () => {
    expect(map(['INBOX/sub'], SLASH, COURIER)).toEqual(['INBOX.sub'])
    expect(map(['INBOX/sub'], SLASH, SLASH)).toEqual(['INBOX/sub'])
  })
  it('routes everything under a prefix (2)', () => {
    const prefix = 'P'
    expect(map(['INBOX', 'INBOX/sub', 'Sent'], SLASH, SLASH, { prefix })).toEqual([
      'P/INBOX',
      'P/INBOX/sub',
      'P/Sent',
    ])
    expect(map(['INBOX', 'Sent'], SLASH, COURIER, { prefix })).toEqual([
      'INBOX.P.INBOX',
      'INBOX.P.Sent',
    ])
    expect(map(['INBOX'], SLASH, SLASH, { prefix: 'Old/2024/' })).toEqual(['Old/2024/INBOX'])
    expect(map(['INBOX', 'INBOX.Sent'], COURIER, SLASH, { prefix })).toEqual(['P/INBOX', 'P/Sent'])
  })
  it('replaces the other side’s delimiter in a name, and keeps two such names distinct (3)', () => {
    expect(map(['Dr. Jones', 'Dr_ Jones'], SLASH, DOT)).toEqual(['Dr_ Jones', 'Dr_ Jones_2'])
    expect(map(['INBOX.Jim / John'], COURIER, SLASH)).toEqual(['Jim _ John'])
    const [mapped] = mapFolders([{ path: 'Dr. Jones' }], SLASH, DOT, {
      prefix: '',
      folderMap: {},
      specialUse: new Map(),
    })
    expect(mapped?.altered).toBe(true)
  })
  it('creates names from empty levels, dots, tildes and overlong names (4)', () => {
    expect(map(['a//b', '...'], SLASH, DOT)).toEqual(['a._.b', '___'])
    const [long = ''] = map(['x'.repeat(400)], SLASH, SLASH)
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(200)
    const closest = (name: string, ...taken: string[]) =>
      simplerNames(name, SLASH, new Set(taken))[0]
    expect(closest('~x')).toBe('_x')
    expect(closest('a.b/c.d')).toBe('a_b/c_d')
    expect(closest('a.b', 'a_b')).toBe('a_b_2')
    expect(simplerNames('a.b/c.d', SLASH, new Set()).at(-1)).toBe('a_b_c_d')
  })
  it('has a name for each level that a server reserves, the last first', () => {
    expect(simplerNames('cur', SLASH, new Set())[0]).toBe('cur_')
    expect(simplerNames('a/new/b', SLASH, new Set()).slice(0, 3)).toEqual([
      'a/new/b_',
      'a/new_/b',
      'a_/new/b',
    ])
    expect(simplerNames('INBOX/tmp', SLASH, new Set())).not.toContain('INBOX_/tmp')
  })
  it('has shorter names for a path of any length, and other ones for other paths', () => {
    const levels = ['Проекты', 'Заказчики в Москве', 'Договоры', 'Счета', 'Архив', '2019']
    for (const length of [200, 100, 40]) {
      const path = [...levels, ...levels].join('/')
      const shorterThan = (name: string) =>
        simplerNames(name, SLASH, new Set()).filter(
          (each) => encodeMailbox(each).length <= length && each.includes('/'),
        )
      expect(shorterThan(path)).not.toEqual([])
      expect(shorterThan(path)).not.toEqual(shorterThan(`${path}0`))
    }
  })
  it('has readable names in ASCII', () => {
    const asciiOf = (name: string) =>
      simplerNames(name, COURIER, new Set()).find((each) => /^[\x20-\x7e]+$/.test(each))
    expect(asciiOf('INBOX.Работа.Счета')).toBe('INBOX.Rabota.Scheta')
    expect(asciiOf('INBOX.Größe.Łódź.Ελλάδα')).toBe('INBOX.Grosse.Lodz.Ellada')
    expect(asciiOf('INBOX.日本')).toBe('INBOX._')
  })
  it('keeps NFC and NFD distinct, and every script unchanged (5)', () => {
    const names = ['Løbende', 'caf\u00e9', 'cafe\u0301', '日本語', '📬', 'R&D']
    expect(map(names, SLASH, SLASH)).toEqual(names)
  })
  it('treats INBOX alike in any case, and nothing else (6)', () => {
    expect(map(['Inbox/x', 'INBOX/x', 'Archive', 'archive'], SLASH, SLASH)).toEqual([
      'INBOX/x',
      'INBOX/x_2',
      'Archive',
      'archive',
    ])
  })
  it('applies special use only if requested and without a prefix (12)', () => {
    const specialUse = new Map([['\\Sent', ['Sent Items']]])
    const folders = [{ path: 'Gesendet', specialUse: '\\Sent' }]
    const to = (options: Partial<MappingOptions>) =>
      mapFolders(folders, SLASH, SLASH, {
        prefix: '',
        folderMap: {},
        specialUse: new Map(),
        ...options,
      })[0]?.destination
    expect(to({ specialUse })).toBe('Sent Items')
    expect(to({})).toBe('Gesendet')
    expect(to({ specialUse, prefix: 'P' })).toBe('P/Gesendet')
  })
  it('prefers the special-use folder with the same name, then the first, each once', () => {
    const to = (paths: string[], ...there: string[]) =>
      mapFolders(
        paths.map((path) => ({ path, specialUse: '\\Sent' })),
        SLASH,
        SLASH,
        { prefix: '', folderMap: {}, specialUse: new Map([['\\Sent', there]]) },
      ).map(({ destination }) => destination)
    expect(to(['Sent'], 'Sent', 'Sent Messages')).toEqual(['Sent'])
    expect(to(['Sent'], 'Sent Messages', 'sent')).toEqual(['sent'])
    expect(to(['Gesendet'], 'Sent', 'Sent Messages')).toEqual(['Sent'])
    expect(to(['Gesendet', 'Sent'], 'Sent', 'Sent Messages')).toEqual(['Sent Messages', 'Sent'])
    expect(to(['Gesendet', 'Sent'], 'Sent')).toEqual(['Gesendet', 'Sent'])
  })
  it('uses the folder map as given, also where it joins folders, and moves others out of its way', () => {
    const folderMap = { a: 'All', b: 'All' }
    expect(map(['a', 'b', 'All'], SLASH, SLASH, { folderMap, prefix: 'P' })).toEqual([
      'All',
      'All',
      'P/All',
    ])
    expect(map(['a', 'All'], SLASH, SLASH, { folderMap })).toEqual(['All', 'All_2'])
  })

  const hierarchies = fc.constantFrom(SLASH, COURIER, DOT, { delimiter: null, prefix: '' })
  const word = fc.oneof(
    fc.constantFrom(
      'INBOX',
      'inbox',
      'a',
      'b',
      '',
      '.',
      '/',
      '_',
      'a_2',
      'Dr. J',
      'x/y',
      '\u0000',
      '日本',
    ),
    fc.string({ maxLength: 6 }),
  )
  const paths = fc.uniqueArray(fc.array(word, { minLength: 1, maxLength: 3 }), {
    selector: (parts) => parts.join('\u0001'),
    maxLength: 12,
  })
  it('never maps two folders to one destination, and never creates an empty level', () => {
    const property = fc.property(
      paths,
      hierarchies,
      hierarchies,
      fc.constantFrom('', 'P', 'P/Q/'),
      (all, from, to, prefix) => {
        const written = [...new Set(all.map((parts) => parts.join(from.delimiter ?? ' ')))]
        const destinations = map(written, from, to, { prefix })
        expect(new Set(destinations).size).toBe(written.length)
        for (const destination of destinations) expect(splitPath(destination, to)).not.toContain('')
      },
    )
    fc.assert(property, { numRuns: 2_000 })
  })
  it('maps INBOX to INBOX and nothing else there, unless there is a prefix', () => {
    const property = fc.property(paths, hierarchies, hierarchies, (all, from, to) => {
      const written = [
        ...new Set(['INBOX', ...all.map((parts) => parts.join(from.delimiter ?? ' '))]),
      ]
      const destinations = map(written, from, to)
      expect(destinations[0]).toBe('INBOX')
      expect(destinations.slice(1)).not.toContain('INBOX')
    })
    fc.assert(property, { numRuns: 1_000 })
  })
})
