import { expect, it } from 'vitest'
import { createRecentEntries } from '../src/recent-entries.ts'

it('keeps the entries that were used last, and no more than its limit', () => {
  const entries = createRecentEntries<number>(3)
  for (const [value, key] of ['a', 'b', 'c'].entries()) entries.set(key, value)
  entries.get('a')
  entries.set('d', 3)
  entries.set('d', 4)
  expect([...entries.keys()].toSorted()).toEqual(['a', 'c', 'd'])
  expect(entries.get('d')).toBe(4)
})
