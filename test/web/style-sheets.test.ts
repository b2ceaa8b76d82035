import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** The selectors in `:has(…)`, with the parentheses in them. */
const HAS = /:has\(((?:[^()]|\([^()]*\))*)\)/g

it('no style sheet searches a subtree, which every change below would repeat', () => {
  const sheets = globSync('web/src/**/*.css')
  expect(sheets.length).toBeGreaterThan(50)
  const searching = sheets.flatMap((sheet) =>
    [...readFileSync(sheet, 'utf8').matchAll(HAS)].flatMap(([rule, selectors = '']) => {
      const isDeep = (selector: string) => !/^(?:>\s*\S+\s*)+$/.test(selector.trim())
      return selectors.split(',').some(isDeep) ? `${sheet}: ${rule}` : []
    }),
  )
  expect(searching).toEqual([])
})
