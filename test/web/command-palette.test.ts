import { describe, expect, it } from 'vitest'
import { findItems, type PaletteItem } from '../../web/src/frame/palette/palette-items.ts'
import { searchWordsOf } from '../../web/src/frame/palette/groups/search-words.ts'
import { FURTHER_SCREENS } from '../../web/src/frame/palette/groups/screen-items.ts'
import {
  ALL_SCREENS,
  findEntry,
  isSettingsPath,
  MODULES,
  SETTINGS,
} from '../../web/src/frame/navigation.ts'

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
  return findItems(typed, ALL, () => {}).map(({ name }) => name)
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
    expect(names('https://example.org:8443/path')).toEqual(['Check example.org:8443'])
    expect(names('2001:DB8::1')).toEqual(['Check 2001:db8::1'])
  })
  it('open the page of what they name', () => {
    const asked: string[] = []
    const open = ({ name }: { name: string }) => void asked.push(name)
    findItems('example.org', ALL, open)[0]?.open()
    findItems('2001:db8::1', ALL, open)[0]?.open()
    expect(asked).toEqual(['example.org', '2001:db8::1'])
  })
})

describe('the screens of the command palette', () => {
  const screens = [...ALL_SCREENS, ...FURTHER_SCREENS].map((entry) =>
    find(entry.label, { keywords: searchWordsOf(entry) }),
  )
  it.each(['blacklist', 'ban', 'whitelist', 'dkim', 'tls', 'rbl', 'fail2ban', 'spam', 'oauth'])(
    'are found by “%s”',
    (word) => expect(findItems(word, screens, () => {})).not.toEqual([]),
  )
})

describe('the shortcuts of the navigation', () => {
  it('are unique', () => {
    const strokes = ALL_SCREENS.flatMap(({ shortcut }) => shortcut ?? [])
    expect(strokes.length).toBeGreaterThan(5)
    expect(new Set(strokes).size).toBe(strokes.length)
  })
  it('cover the menu', () => {
    expect([...MODULES, SETTINGS].filter(({ shortcut }) => !shortcut)).toEqual([])
  })
  it('belong to the entry with the longest path above a screen', () => {
    const entryOf = (path: string) => findEntry([...MODULES, SETTINGS], path)?.label
    expect(entryOf('/dmarc/1/reports')).toBe('Domains')
    expect(entryOf('/attacks/networks/1')).toBe('Servers & IPs')
    expect(entryOf('/attacks/fleet')).toBe('Attacks')
    expect(entryOf('/nothing')).toBeUndefined()
    expect(['/alerts/channels/new', '/attacks/relays', '/tokens'].every(isSettingsPath)).toBe(true)
    expect(['/alerts', '/alerts/history', '/attacks'].some(isSettingsPath)).toBe(false)
  })
})
