import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createUidSet, parseUidSet } from '../../src/migration/engine/journal/uid-set.ts'

const uid = fc.integer({ min: 1, max: 60 })
const step = fc.oneof(
  fc.record({
    does: fc.constantFrom('add' as const, 'delete' as const, 'dropBelow' as const),
    uid,
  }),
  fc.record({
    does: fc.constant('addRange' as const),
    uid,
    length: fc.integer({ min: 0, max: 20 }),
  }),
)

describe('a set of UIDs', () => {
  it('contains the same as a plain set', () => {
    const property = fc.property(fc.array(step), (steps) => {
      const set = createUidSet()
      let model = new Set<number>()
      for (const one of steps) {
        if (one.does === 'addRange') {
          set.addRange(one.uid, one.uid + one.length)
          for (let n = one.uid; n <= one.uid + one.length; n++) model.add(n)
        } else set[one.does](one.uid)
        if (one.does === 'add') model.add(one.uid)
        if (one.does === 'delete') model.delete(one.uid)
        if (one.does === 'dropBelow') model = new Set([...model].filter((n) => n >= one.uid))
        const sorted = [...model].toSorted((a, b) => a - b)
        expect([...set]).toEqual(sorted)
        expect(set.size).toBe(model.size)
        expect(set.first()).toBe(sorted[0])
        expect(set.has(one.uid)).toBe(model.has(one.uid))
        expect([...parseUidSet(set.toString())]).toEqual(sorted)
      }
    })
    fc.assert(property, { numRuns: 500 })
  })
  it('needs one range for a folder of 200,000', () => {
    const set = createUidSet()
    for (let n = 1; n <= 200_000; n++) set.add(n)
    expect(set.toString()).toBe('1:200000')
  })
  it('rejects a text that is no set', () => {
    expect(() => parseUidSet('1:x')).toThrow(RangeError)
  })
})
