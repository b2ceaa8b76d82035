import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROGRAM, SURROUNDINGS } from '../cli/command.ts'
import { freePort } from '../free-port.ts'

/** The service in a process of its own, which one may kill. */
export type Instance = {
  url: string
  child: ChildProcess
  /** What it wrote, standard output and error together; the last mebibyte. */
  said: () => string
  /** Stops the process; resolves when it has ended. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

/**
 * Starts `portreeve serve` with these settings and waits for `/readyz`.
 * @param program the program of another version
 */
export async function startInstance(
  env: Record<string, string>,
  program = PROGRAM,
): Promise<Instance> {
  const port = env['PORT'] ?? String(await freePort())
  const child = spawn(process.execPath, [program, 'serve'], {
    cwd: tmpdir(),
    env: { ...SURROUNDINGS, SMTP_LISTEN: 'off', LOG_LEVEL: 'warn', ...env, PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream
      .setEncoding('utf8')
      .on('data', (text: string) => (output = (output + text).slice(-(1 << 20))))
  }
  const instance: Instance = {
    url: `http://127.0.0.1:${port}`,
    child,
    said: () => output,
    async kill(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
  await isReady(instance)
  return instance
}

/** Waits until it answers `/readyz`, a minute at most. */
export async function isReady({ url, child, said }: Instance): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if ((await fetch(`${url}/readyz`).catch(() => null))?.status === 200) return
    if (child.exitCode !== null) throw new Error(`the instance ended:\n${said()}`)
    await sleep(100)
  }
  throw new Error(`the instance does not become ready:\n${said()}`)
}
