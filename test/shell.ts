import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../src/version.ts'
import { ignoreEpipe } from './ignore-epipe.ts'

/** A block of a page that a reader runs in a shell. */
export type Block = {
  code: string
  /** Why no test can run it, from the comment `<!-- not run: … -->` in front of it. */
  notRun: string | null
}

/** The blocks for a shell in a page of the documentation, in order. */
export function blocksIn(page: string): Block[] {
  const blocks = /^(?:<!-- not run: (.*?) -->\n\n)?^( *)```(?:sh|console)\n(.*?)^ *```/gms
  return [...page.matchAll(blocks)].map(([, notRun = null, , code = '']) => ({ code, notRun }))
}

/** The examples of a page that its test runs, in order. */
export function examplesIn(page: string): string[] {
  return blocksIn(page)
    .filter(({ notRun }) => notRun === null)
    .map(({ code }) => code)
}

/** What every page uses, from its place in docs/api.md: two variables and a function. */
export function apiFunction(url: string, token: string): string {
  const [block = ''] = examplesIn(readFileSync(join(ROOT, 'docs/api.md'), 'utf8'))
  return block.replace('http://localhost:8080', url).replace('prv_…', token)
}

/** Starts a shell that runs one block after another, and returns the output of each. */
export function startShell(env: Record<string, string>, cwd = process.cwd()) {
  const shell = spawn('bash', ['-eu', '-o', 'pipefail'], {
    env: { PATH: '/usr/bin:/bin', ...env },
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  ignoreEpipe(shell.stdin)
  let said = ''
  let heard = Promise.withResolvers<void>()
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      said += bytes.toString()
      heard.resolve()
    })
  }
  shell.once('exit', () => heard.resolve())
  return {
    async run(block: string): Promise<string> {
      said = ''
      shell.stdin.write(`${block}\necho "[done]"\n`)
      while (!said.endsWith('[done]\n')) {
        if (shell.exitCode !== null) throw new Error(`the shell ended: ${said}`)
        heard = Promise.withResolvers()
        if (!said.endsWith('[done]\n')) await heard.promise
      }
      return said.slice(0, -'[done]\n'.length)
    },
    async end(): Promise<void> {
      if (shell.exitCode !== null) return
      const ended = once(shell, 'exit')
      shell.stdin.end()
      await ended
    },
  }
}
