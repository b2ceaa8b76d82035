import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { expect } from 'vitest'

/** What was done to the service, what came of it, and the file of the test. */
export type Figure = { what: string; outcome: string; test: string }

/** Where the figures of a whole run go; without it they are only printed. */
const FILE = process.env['PORTREEVE_FIGURES']

/** Tells what came of something that was done to the service. */
export function figure(what: string, outcome: string): void {
  console.log(`${what}: ${outcome}`)
  const test = relative(process.cwd(), expect.getState().testPath ?? '')
  if (FILE) appendFileSync(FILE, `${JSON.stringify({ what, outcome, test } satisfies Figure)}\n`)
}
