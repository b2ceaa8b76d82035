import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ignoreEpipe } from './ignore-epipe.ts'

/** The examples for a shell in a page of the documentation, in order. */
export function examplesIn(page: string): string[] {
  return [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block)
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
      const ended = once(shell, 'exit')
      shell.stdin.end()
      await ended
    },
  }
}
