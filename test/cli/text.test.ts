import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sanitizeForTerminal, table, width } from '../../src/cli/terminal-text.ts'
import { anyText } from '../any-text.ts'

describe('text at a terminal', () => {
  it('aligns columns with and without colors', () => {
    expect(
      table(
        [
          ['\u001b[31mred\u001b[39m', 'x'],
          ['longer', 'y'],
        ],
        '',
      ),
    ).toBe('\u001b[31mred\u001b[39m     x\nlonger  y')
  })

  it('removes escape sequences, control characters and direction marks from text of strangers', () => {
    expect(sanitizeForTerminal('a\u001b[2Jb\u202ec\r\nd')).toBe('ab\uFFFDc\uFFFD\uFFFDd')
    fc.assert(
      fc.property(anyText(), (text) => {
        // eslint-disable-next-line no-control-regex
        expect(sanitizeForTerminal(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
      }),
    )
  })

  it('counts visible characters', () => {
    expect(width('\u001b[1mdüne\u001b[22m')).toBe(4)
  })
})
