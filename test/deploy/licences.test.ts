import { describe, expect, it } from 'vitest'
import { installedPackages, isAllowed } from '../../scripts/licences.ts'

describe('the licenses of dependencies', () => {
  it('are all permissive', () => {
    const packages = installedPackages()
    expect(packages.length).toBeGreaterThan(200)
    expect(packages.filter(({ licence }) => !isAllowed(licence))).toEqual([])
  })

  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0)', true],
    ['MIT AND ISC', true],
    ['MIT AND GPL-3.0', false],
    ['GPL-3.0-only', false],
    ['AGPL-3.0', false],
    ['none named', false],
    ['UNLICENSED', false],
  ])('%s: %s', (expression, allowed) => expect(isAllowed(expression)).toBe(allowed))
})
