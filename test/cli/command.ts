import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { format } from 'node:util'
import { vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { COMPILED } from '../environment.ts'
import { ignoreEpipe } from '../ignore-epipe.ts'

export type Outcome = { code: number | null; out: string; err: string }

/** Of commands that tests start: the path, and where compiled sources are kept. */
export const SURROUNDINGS = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: COMPILED }

export const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'portreeve.js')

/**
 * Runs `portreeve` as a process with these arguments, settings and standard input, and waits for its
 * end. For what only a process has: that it ends by itself, signals, a terminal, an exit code.
 */
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
  ignoreEpipe(child.stdin).end(input)
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, out, err }
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs the function of a command in this process, one at a time, as `runPortreeve` would: a start
 * costs more than half a second of processor time, most of it for loading what is loaded here.
 * @throws what the program would report as a defect
 */
export function runInProcess(
  words: string[],
  env: Record<string, string>,
  { input = '', cwd = tmpdir() } = {},
): Promise<Outcome> {
  const outcome = last.then(() => runHere(words, env, input, cwd))
  last = outcome.catch(() => {})
  return outcome
}

async function runHere(
  words: string[],
  env: Record<string, string>,
  input: string,
  cwd: string,
): Promise<Outcome> {
  const out: string[] = []
  const err: string[] = []
  const before = { env: process.env, cwd: process.cwd(), listeners: stopListeners() }
  const write = (to: string[]) => (piece: string | Uint8Array) =>
    to.push(Buffer.from(piece as string).toString()) > 0
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((...told) => void out.push(`${format(...told)}\n`)),
    vi
      .spyOn(console, 'error')
      .mockImplementation((...told) => void err.push(`${format(...told)}\n`)),
    vi.spyOn(process.stdout, 'write').mockImplementation(write(out)),
    vi.spyOn(process.stderr, 'write').mockImplementation(write(err)),
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdinOf(input)),
  ]
  process.env = { ...SURROUNDINGS, ...env }
  process.chdir(cwd)
  try {
    const code = await main(words)
    return { code, out: out.join(''), err: err.join('') }
  } finally {
    process.chdir(before.cwd)
    process.env = before.env
    for (const spy of spies) spy.mockRestore()
    // A command that stops at a signal listens for it until its process ends.
    for (const [name, listener] of stopListeners())
      if (!before.listeners.some((known) => known[1] === listener)) process.off(name, listener)
  }
}

const stopListeners = () =>
  STOP_SIGNALS.flatMap((name) =>
    process.listeners(name).map((listener) => [name, listener] as const),
  )

const stdinOf = (input: string) =>
  Object.assign(Readable.from([input]), { isTTY: false }) as unknown as typeof process.stdin
