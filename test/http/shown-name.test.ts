import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isShownName, nameInMail } from '../../src/http/shown-name.ts'

describe('a name that others read', () => {
  it.each([
    ['a mark that turns the text around', 'invoice\u202efdp.exe'],
    ['an isolate', '\u2066admin'],
    ['a space of no width', 'ad\u200bmin'],
    ['a soft hyphen', 'ad\u00admin'],
    ['a line separator', 'Alice\u2028Bcc: x'],
    ['a paragraph separator', 'Alice\u2029'],
    ['a tag character', 'Alice\u{e0041}'],
    ['a line break', 'Alice\n'],
    ['half a character', 'Alice\ud800'],
    ['a joiner beside ASCII', 'pay\u200dpal'],
    ['a joiner at its end', 'م\u200c'],
    ['two joiners', 'م\u200c\u200cم'],
  ])('does not have %s', (_, name) => expect(isShownName(name, 100)).toBe(false))

  it('may be of any script', () => {
    for (const name of [
      'Müller & Söhne',
      '株式会社',
      'شركة',
      'Ａｃｍｅ 🚀',
      '',
      'می\u200cخواهم نو',
      'क्\u200dष',
      '👩🏽\u200d💻 ❤️\u200d🔥',
    ])
      expect(isShownName(name, 100)).toBe(true)
    expect(isShownName('abc', 2)).toBe(false)
  })

  it('is the same rule in every request', () => {
    const document = readFileSync('openapi.json', 'utf8')
    // The control characters alone were the rule before; paths of folders keep it.
    expect(document).not.toMatch(/"pattern": "\^\[\^\\\\u0000-\\\\u001f\\\\u007f-\\\\u009f\]\*\$",?\s*"maxLength": (?:100|200)\b/) // prettier-ignore
    expect(document.match(/\\\\u202a-\\\\u202e/g)?.length).toBeGreaterThan(10)
  })
})

describe('a name in an email to a stranger', () => {
  it.each([
    ['evil.example/login', 'evil. example/login'],
    ['https://evil.example', 'https evil. example'],
    ['evil。example', 'evil. example'],
    ['evil.\u200bexample', 'evil. example'],
    ['198.51.100.7/x', '198. 51. 100. 7/x'],
    ['Acme Inc. Berlin', 'Acme Inc. Berlin'],
    ['می\u200cخواهم', 'می\u200cخواهم'],
    ['пример\u200c。рф', 'пример 。рф'],
    ['Alice\u202e\u2028Bcc: x@x', 'Alice Bcc: x@x'],
  ])('shows %j without a link', (name, shown) => expect(nameInMail(name)).toBe(shown))

  it('is short', () => expect(nameInMail('a'.repeat(500))).toHaveLength(60))
})
