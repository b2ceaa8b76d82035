import { assert, jsonValue, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findBlocks, visibleLines } from '../../web/src/webhooks/body/fold-lines.ts'
import { formatJson, linesToText } from '../../web/src/webhooks/body/format-json.ts'

function pretty(text: string): string {
  const result = formatJson(text)
  return 'lines' in result ? linesToText(result.lines).join('\n') : result.problem
}

describe('folded JSON', () => {
  const linesOf = (value: unknown) => {
    const result = formatJson(JSON.stringify(value))
    return 'lines' in result ? result.lines : []
  }

  it('has a block for each object and array on several lines', () => {
    const lines = linesOf([{ a: 1, b: [] }, { c: { d: '}' } }])
    expect([...findBlocks(lines)].toSorted(([one], [other]) => one - other)).toEqual([
      [0, 10],
      [1, 4],
      [5, 9],
      [6, 8],
    ])
    expect(visibleLines(lines.length, findBlocks(lines), new Set([1, 6]))).toEqual([
      0, 1, 5, 6, 9, 10,
    ])
    expect(visibleLines(lines.length, findBlocks(lines), new Set([0, 6]))).toEqual([0])
  })
  it('ends every block that begins, whatever the JSON is', () => {
    assert(
      property(jsonValue(), (value) => {
        const lines = linesOf(value)
        for (const [start, end] of findBlocks(lines)) {
          expect(lines[end]?.depth).toBe(lines[start]?.depth)
          expect(end).toBeGreaterThan(start)
        }
      }),
    )
  })
})

describe('JSON set out for reading', () => {
  it('matches JSON.stringify', () => {
    assert(
      property(jsonValue(), (value) => {
        expect(pretty(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2))
      }),
    )
  })
  it('keeps every digit, and duplicate names', () => {
    expect(pretty('{"a":12345678901234567890,"a":1.10}')).toBe(
      '{\n  "a": 12345678901234567890,\n  "a": 1.10\n}',
    )
  })
  it('keeps braces and quotes in strings', () => {
    expect(pretty(String.raw`["{\"a\": [1,\\", "b"]`)).toBe(String.raw`[
  "{\"a\": [1,\\",
  "b"
]`)
  })
  it('reports the position where text is not JSON', () => {
    expect(pretty('{"a": 1,}')).toMatch(/position 8|column 9/)
  })
  it('accepts any text', () => {
    assert(property(string(), (text) => typeof pretty(text) === 'string'))
  })
})
