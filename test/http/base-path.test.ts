import { expect, it } from 'vitest'
import { createPathRemover } from '../../src/http/base-path.ts'

it.each([
  ['/portreeve/home?a=1', '/home?a=1'],
  ['/portreeve', '/'],
  ['/portreeve?a=1', '/?a=1'],
  ['/portreeve/', '/'],
  ['/portreeve//a%2Fb', '//a%2Fb'],
  ['/portreeve/portreeve/x', '/portreeve/x'],
  ['HTTP://example.com/portreeve/webhooks/x', 'HTTP://example.com/webhooks/x'],
  // Without the path, or with another that begins like it.
  ['/readyz', '/readyz'],
  ['/portreevex/home', '/portreevex/home'],
  ['/home?next=/portreeve/x', '/home?next=/portreeve/x'],
  ['*', '*'],
])('a request target %s is %s in the service', (target, expected) => {
  expect(createPathRemover('/portreeve')(target)).toBe(expected)
})

it('takes the characters of a path as they are', () => {
  expect(createPathRemover('/a.b/c')('/a.b/c/x')).toBe('/x')
  expect(createPathRemover('/a.b/c')('/aXb/c/x')).toBe('/aXb/c/x')
})
