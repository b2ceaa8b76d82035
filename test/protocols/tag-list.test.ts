import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTagList, tagsObject, valueOf } from '../../src/protocols/tag-list.ts'
import { hostile, within } from './reports/hostile.ts'

describe('a tag list', () => {
  it('is names and values in order, with spaces around both', () => {
    const { tags, errors } = parseTagList('v=DMARC1 ;\tp = none;rua=mailto:a@b.example')
    expect(tags).toEqual([
      { name: 'v', value: 'DMARC1', at: 0 },
      { name: 'p', value: 'none', at: 11 },
      { name: 'rua', value: 'mailto:a@b.example', at: 20 },
    ])
    expect(errors).toEqual([])
  })

  it('may end in a semicolon', () => {
    expect(parseTagList('v=STSv1; id=1;').errors).toEqual([])
  })

  it('keeps the text after the first equals sign', () => {
    expect(valueOf(parseTagList('p=MIIB==').tags, 'p')).toBe('MIIB==')
  })

  it('uses the first of two tags and reports the position of the second', () => {
    const { tags, errors } = parseTagList('p=none; p=reject')
    expect(tagsObject(tags)).toEqual({ p: 'none' })
    expect(errors).toEqual([
      { at: 8, message: expect.stringContaining('more than once'), isRepeated: true },
    ])
  })

  it.each([
    ['v=1;;p=2', 4],
    ['v=1; nonsense', 5],
    ['v=1; =x', 5],
    ['v=1; 1a=x', 5],
    ['v=1; a b=x', 5],
  ])('says where %j is wrong', (text, at) => {
    expect(parseTagList(text).errors.map((error) => error.at)).toEqual([at])
  })

  it('parses its own output', () => {
    const name = fc.stringMatching(/^[A-Za-z]\w{0,9}$/)
    const value = fc.stringMatching(/^[!-:<-~]{0,20}$/)
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, minLength: 1 }),
        (pairs) => {
          const text = pairs.map(([key, said]) => `${key}=${said}`).join('; ')
          expect(tagsObject(parseTagList(text).tags)).toEqual(Object.fromEntries(pairs))
        },
      ),
    )
  })

  it('points at the tag, wherever it stands', () => {
    fc.assert(
      fc.property(hostile(), (text) => {
        for (const { name, at } of parseTagList(text).tags)
          expect(text.startsWith(name, at)).toBe(true)
      }),
    )
  })

  it('is parsed in linear time', () => {
    within(parseTagList, ['a=1;', ';', 'a', ' ', 'a =', '='])
  })
})
