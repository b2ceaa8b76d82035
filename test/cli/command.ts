import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { COMPILED } from '../environment.ts'

export type Outcome = { code: number | null; out: string; err: string }

/** Of commands that tests start: the path, and where compiled sources are kept. */
export const SURROUNDINGS = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: COMPILED }

export const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'portreeve.js')

/** Runs `portreeve` with these arguments, settings and standard input, and waits for its end. */
export async function runPortreeve(
  words: string[],
  env: Record<string, string>,
  input = '',
  program = PROGRAM,
): Promise<Outcome> {
  // Not in the checkout, which may contain a developer’s .env.
  const child = spawn(process.execPath, [program, ...words], {
    cwd: tmpdir(),
    env: { ...SURROUNDINGS, ...env },
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.stdin.end(input)
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, out, err }
}
