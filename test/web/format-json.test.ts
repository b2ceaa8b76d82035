import { assert, jsonValue, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatJson, linesToText } from '../../web/src/webhooks/body/format-json.ts'

function pretty(text: string): string {
  const result = formatJson(text)
  return 'lines' in result ? linesToText(result.lines).join('\n') : result.problem
}

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
