import { describe, expect, it } from 'vitest'
import { readTexts, RULES, type Text } from './wording.ts'

/** Files that the rules do not apply to. */
const EXCEPTIONS = [
  // Names of folders in many languages.
  /^src\/net\/imap\/folders\/special-use\.ts/,
  // What people type into the search.
  /^web\/src\/frame\/palette\/groups\/search-words\.ts/,
]

// The right column of the glossary lists words to avoid.
const texts = readTexts().filter(
  ({ file, text }) => !(file === 'CONTRIBUTING.md' && text.startsWith('|')),
)
const reviewed = texts.filter(({ file }) => !EXCEPTIONS.some((pattern) => pattern.test(file)))

const broken = (all: Text[]) =>
  all.flatMap(({ file, line, text, kind }) =>
    RULES.filter(({ pattern, kinds }) => (kinds?.includes(kind) ?? true) && pattern.test(text)).map(
      ({ instead }) => `${file}:${line} “${text.slice(0, 100)}” → ${instead}`,
    ),
  )

describe('texts that people read', () => {
  it('follow CONTRIBUTING.md', () => {
    expect(texts.length).toBeGreaterThan(5_000)
    expect(broken(reviewed)).toEqual([])
  })

  it('are in the messages of their module, not in components', () => {
    const inComponents = reviewed.filter(
      ({ file, kind, text }) => kind === 'jsx' && file.startsWith('web/') && /[a-z]{2}/.test(text),
    )
    expect(inComponents.map(({ file, line, text }) => `${file}:${line} ${text}`)).toEqual([])
  })

  it('are checked by rules that find their examples', () => {
    const text = (value: string, kind: Text['kind'] = 'prose'): Text => ({
      file: 'x',
      line: 1,
      text: value,
      kind,
    })
    const wrong = [
      'What was found',
      '94.8 % of it',
      'It is to be copied.',
      'No such host',
      'Your e-mail',
      'looked at',
    ]
    for (const one of wrong) expect(broken([text(one, 'heading')]), one).not.toEqual([])
    expect(broken([text('94.8% of messages passed.'), text('Recent activity', 'heading')])).toEqual(
      [],
    )
  })
})
