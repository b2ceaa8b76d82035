import { expect, it } from 'vitest'
import { monthsBefore } from '../src/time.ts'

it.each([
  ['2026-11-21T12:00:00.000Z', 24, '2024-11-21T12:00:00.000Z'],
  ['2026-03-31T12:00:00.000Z', 1, '2026-02-28T12:00:00.000Z'],
  ['2028-03-31T12:00:00.000Z', 1, '2028-02-29T12:00:00.000Z'],
  ['2028-02-29T00:00:00.000Z', 24, '2026-02-28T00:00:00.000Z'],
  ['2026-07-31T23:59:59.999Z', 8, '2025-11-30T23:59:59.999Z'],
  ['2026-01-31T00:00:00.000Z', 1, '2025-12-31T00:00:00.000Z'],
])('%s is %d months after %s', (date, months, before) => {
  expect(monthsBefore(new Date(date), months).toISOString()).toBe(before)
})
