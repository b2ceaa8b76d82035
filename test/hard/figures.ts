import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { expect } from 'vitest'

/** An action on the service, its outcome, and the test file. */
export type Figure = { what: string; outcome: string; test: string }

/** The file for the figures of a whole run; without it they are only printed. */
const FILE = process.env['PORTREEVE_FIGURES']

/** Reports the outcome of an action on the service. */
export function figure(what: string, outcome: string): void {
  console.log(`${what}: ${outcome}`)
  const test = relative(process.cwd(), expect.getState().testPath ?? '')
  if (FILE) appendFileSync(FILE, `${JSON.stringify({ what, outcome, test } satisfies Figure)}\n`)
}
