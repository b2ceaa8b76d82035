import { describe, expect, it } from 'vitest'
import { findItems, type PaletteItem } from '../../web/src/frame/palette/palette-items.ts'
import { MODULES, SETTINGS_PAGES } from '../../web/src/frame/navigation.ts'

const find = (name: string, more: Partial<PaletteItem> = {}): PaletteItem => ({
  name,
  kind: 'Screen',
  icon: 'home',
  open: () => {},
  ...more,
})
const ALL = [
  find('Overview'),
  find('Webhooks'),
  find('shop orders', { kind: 'Webhook', keywords: 'https://x/webhooks/abc' }),
]

function names(typed: string): string[] {
  return findItems(typed, ALL, { check: () => {}, lookUp: () => {} }).map(({ name }) => name)
}

describe('the results of the command palette', () => {
  it('are all entries while nothing is typed', () => {
    expect(names('')).toEqual(['Overview', 'Webhooks', 'shop orders'])
  })
  it('rank names that begin with the text first', () => {
    expect(names('web')).toEqual(['Webhooks', 'shop orders'])
    expect(names('ord')).toEqual(['shop orders'])
    expect(names('shop webhook')).toEqual(['shop orders'])
    expect(names('abc')).toEqual(['shop orders'])
    expect(names('nothing so')).toEqual([])
  })
  it('start with a check for an address or a domain', () => {
    expect(names('192.0.2.1')[0]).toBe('Check 192.0.2.1')
    expect(names(' alice@Example.org')[0]).toBe('Check example.org')
    expect(names('https://example.org:8443/path')).toEqual(['Check example.org'])
  })
  it('offer the attack reports of an IPv4 or IPv6 address', () => {
    expect(names('192.0.2.1')).toEqual(['Check 192.0.2.1', 'Look up 192.0.2.1'])
    expect(names('2001:DB8::1')).toEqual(['Look up 2001:DB8::1'])
    expect(names('::ffff:192.0.2.1')).toEqual(['Look up ::ffff:192.0.2.1'])
  })
  it('run the check that they name', () => {
    const asked: string[] = []
    const ways = {
      check: (name: string) => asked.push(name),
      lookUp: (ip: string) => asked.push(ip),
    }
    findItems('example.org', ALL, ways)[0]?.open()
    findItems('2001:db8::1', ALL, ways)[0]?.open()
    expect(asked).toEqual(['example.org', '2001:db8::1'])
  })
})

describe('the shortcuts of the navigation', () => {
  it('are unique', () => {
    const strokes = [...MODULES, ...SETTINGS_PAGES].flatMap(({ shortcut }) => shortcut ?? [])
    expect(strokes.length).toBeGreaterThan(5)
    expect(new Set(strokes).size).toBe(strokes.length)
  })
  it('cover every screen', () => {
    expect([...MODULES, ...SETTINGS_PAGES].filter(({ shortcut }) => !shortcut)).toEqual([])
  })
})
