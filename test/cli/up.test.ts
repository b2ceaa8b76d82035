import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../free-port.ts'

const ROOT = join(import.meta.dirname, '..', '..')

let folder: string
let checkout: string
const running: ChildProcess[] = []
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-up-'))
  checkout = join(folder, 'checkout')
  mkdirSync(checkout)
  for (const name of [
    'bin',
    'data',
    'scripts',
    'src',
    'clients',
    'docs',
    'package.json',
    'package-lock.json',
    'openapi.json',
  ]) {
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true })
  }
  // Uses the installed packages with a stamp of their own: nothing is installed or changed.
  const packages = join(checkout, 'node_modules')
  mkdirSync(packages)
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '.portreeve-lock')
      symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
  }
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex')
  writeFileSync(join(packages, '.portreeve-lock'), lock)
  mkdirSync(join(checkout, 'web', 'dist', 'guide'), { recursive: true })
  for (const page of ['index.html', 'guide/index.html'])
    writeFileSync(join(checkout, 'web', 'dist', page), '<!doctype html>')
})
// Of a test that failed, too.
afterEach(async () => {
  for (const npm of running.splice(0)) {
    if (npm.exitCode !== null || npm.signalCode !== null) continue
    npm.kill('SIGTERM')
    await once(npm, 'exit')
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function up(
  dataDir: string,
): Promise<{ npm: ChildProcess; said: () => string; port: number }> {
  const port = await freePort()
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    DATA_DIR: dataDir,
    PORT: String(port),
    SMTP_LISTEN: 'off',
  }
  const npm = spawn('npm', ['run', 'up'], { cwd: checkout, env })
  running.push(npm)
  let output = ''
  for (const stream of [npm.stdout, npm.stderr])
    stream.on('data', (bytes: Buffer) => (output += bytes.toString()))
  return { npm, said: () => output, port }
}

async function until(
  condition: () => boolean | Promise<boolean>,
  said: () => string,
): Promise<void> {
  for (const end = performance.now() + 120_000; !(await condition());) {
    if (performance.now() > end) throw new Error(`it did not happen:\n${said()}`)
    await sleep(50)
  }
}

/** Null while the file is missing, or empty: PostgreSQL creates it, then writes it. */
const postgresPid = (dataDir: string): number | null => {
  const file = join(dataDir, 'postgres', 'postmaster.pid')
  return (existsSync(file) && Number.parseInt(readFileSync(file, 'utf8'), 10)) || null
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('npm run up under a supervisor', { timeout: 180_000 }, () => {
  it('ends the service and its database when npm alone gets SIGTERM, and npm waits for both', async () => {
    const dataDir = join(folder, 'one')
    const { npm, said, port } = await up(dataDir)
    await until(() => said().includes('Portreeve is running'), said)
    const postgres = postgresPid(dataDir) ?? NaN
    expect(isAlive(postgres)).toBe(true)
    const exited = once(npm, 'exit')
    npm.kill('SIGTERM')
    await exited
    await until(() => said().includes('"stopped"'), said)
    expect(postgresPid(dataDir)).toBeNull()
    expect(isAlive(postgres)).toBe(false)
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
  })

  it('leaves no database behind when the signal comes while it starts', async () => {
    const dataDir = join(folder, 'two')
    const { npm, said } = await up(dataDir)
    let postgres: number | null = null
    await until(() => (postgres = postgresPid(dataDir)) !== null, said)
    const exited = once(npm, 'exit')
    npm.kill('SIGTERM')
    await exited
    await until(() => !isAlive(postgres ?? NaN), said)
  })
})
