import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** A case that was reported elsewhere: an input, and the facts that the product must state. */
type OutsideCase = {
  /** Where it was reported, as `owner/repository#1`, or the test suite or RFC that has it. */
  source: string
  /** The rule that decides, as `RFC 7208 4.6.4`. */
  rule: string
  /** What the case shows, in a few words. */
  title: string
  input: unknown
  /** The facts of the result that are compared. */
  expected: object
}

/**
 * Runs the cases of a JSON file of this folder, each as a test: `run` must return at least the
 * expected facts of its input. It gets them as well, for facts such as a part of a sentence.
 */
export function runCases(
  file: string,
  run: (input: never, expected: object) => object | Promise<object>,
): void {
  const path = new URL(file, import.meta.url)
  const cases = JSON.parse(readFileSync(path, 'utf8')) as OutsideCase[]
  describe(`reported elsewhere: ${file}`, () => {
    it.each(cases)('$title ($source, $rule)', async ({ input, expected }) => {
      expect(await run(input as never, expected)).toMatchObject(expected)
    })
  })
}
