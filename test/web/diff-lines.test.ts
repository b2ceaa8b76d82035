import { array, assert, constantFrom, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffLines } from '../../web/src/webhooks/requests/compare/diff-lines.ts'

const lines = array(constantFrom('a', 'b', 'c', ''), { maxLength: 12 })

describe('the difference of two texts', () => {
  it('lists removed and added lines in reading order', () => {
    expect(
      diffLines(['POST /a', 'host: x', '', '1'], ['POST /a', 'host: y', '', '1', '2']),
    ).toEqual([
      { kind: 'same', line: 'POST /a' },
      { kind: 'gone', line: 'host: x' },
      { kind: 'new', line: 'host: y' },
      { kind: 'same', line: '' },
      { kind: 'same', line: '1' },
      { kind: 'new', line: '2' },
    ])
  })
  it('has both texts in it, whole', () => {
    assert(
      property(lines, lines, (before, after) => {
        const changes = diffLines(before, after) ?? []
        const without = (kind: string) =>
          changes.filter((change) => change.kind !== kind).map(({ line }) => line)
        expect([without('new'), without('gone')]).toEqual([before, after])
      }),
    )
  })
  it('is not computed where that would take too long', () => {
    const long = (sign: string) => Array.from({ length: 3_000 }, (_, index) => `${sign}${index}`)
    expect(diffLines(long('a'), long('b'))).toBeNull()
    expect(diffLines(long('a'), [...long('a'), 'b'])).toHaveLength(3_001)
  })
})
