import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Whether imapsync and its Perl modules are installed; Debian 12 does not package it. */
export function hasImapsync(): boolean {
  return spawnSync('imapsync', ['--version'], { stdio: 'ignore' }).status === 0
}

/** Copies the account `source` into another. */
export async function imapsync(
  source: number,
  destination: number,
  user: string,
  folder: string,
): Promise<void> {
  const side = (which: 1 | 2, port: number, name: string) => {
    const told = { host: '127.0.0.1', port: String(port), user: name, password: 'secret' }
    const options = Object.entries(told).flatMap(([option, value]) => [
      `--${option}${which}`,
      value,
    ])
    return [...options, `--nossl${which}`, `--notls${which}`]
  }
  const quiet = [
    '--nolog',
    '--noreleasecheck',
    '--tmpdir',
    folder,
    '--pidfile',
    join(folder, 'pid'),
  ]
  const args = [...side(1, source, 'source'), ...side(2, destination, user), ...quiet]
  const [code] = (await once(spawn('imapsync', args, { stdio: 'ignore' }), 'exit')) as [number]
  if (code !== 0) throw new Error(`imapsync ended with ${code}`)
}
