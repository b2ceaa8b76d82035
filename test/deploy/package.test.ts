import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unprivilegedUser } from '../../src/store/embedded/user.ts'
import { VERSION } from '../../src/version.ts'
import { freePort } from '../free-port.ts'
import { stagesOf } from './dockerfile.ts'

const ROOT = join(import.meta.dirname, '../..')
/**
 * Files needed to build. web/dist and dist are built separately, so that no other test loses its
 * own.
 */
const SOURCES = [
  'bin',
  'clients',
  'data',
  'deploy',
  'docs',
  'man',
  'scripts',
  'src',
  'web',
  'CHANGELOG.md',
  'README.md',
]

let folder: string
let installed: string
let service: ChildProcess | undefined

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-package-'))
  chmodSync(folder, 0o755)
  const checkout = join(folder, 'checkout')
  installed = join(folder, 'opt/portreeve')
  mkdirSync(checkout)
  run(
    ROOT,
    `tar --create --exclude=dist --exclude=node_modules ${SOURCES.join(' ')} *.json .npmrc LICENSE | tar --extract --directory ${checkout}`,
  )
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  mkdirSync(join(folder, 'tmp'))
  mkdirSync(installed, { recursive: true })
  run(checkout, 'npm pack --silent --pack-destination ../tmp')
  copyFileSync(join(ROOT, 'package-lock.json'), join(folder, 'tmp/package-lock.json'))
  run(installed, stepsOf('package'))
}, 300_000)
afterAll(async () => {
  if (service?.exitCode === null) {
    service.kill('SIGKILL')
    await once(service, 'exit')
  }
  rmSync(folder, { recursive: true, force: true })
})

/**
 * The RUN of a stage of the Dockerfile, with the folders of the image in ours; the machine's npm
 * cache stays.
 */
function stepsOf(stage: string): string {
  const [script = ''] =
    stagesOf(readFileSync('deploy/Dockerfile', 'utf8')).find(({ name }) => name === stage)?.runs ??
    []
  return script.replaceAll('/tmp/', `${folder}/tmp/`).replace('npm cache clean --force', 'true')
}

function run(cwd: string, script: string): void {
  const env = {
    ...process.env,
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
  }
  execFileSync('/bin/sh', ['-ec', script], { cwd, env, stdio: 'pipe' })
}

/** Starts it like the image: an unprivileged user with one writable folder for data. */
async function start(port: number, metrics: number): Promise<ChildProcess> {
  const data = join(folder, 'data')
  const node = join(folder, 'node')
  mkdirSync(data)
  copyFileSync(process.execPath, node)
  const env = {
    PATH: '/usr/bin:/bin',
    DATA_DIR: data,
    PORT: String(port),
    SMTP_LISTEN: 'off',
    METRICS_LISTEN: `127.0.0.1:${metrics}`,
  }
  const user = process.getuid?.() === 0 ? unprivilegedUser() : null
  if (user) spawnSync('chown', [`${user.uid}:${user.gid}`, data])
  const rights = user ? { uid: user.uid, gid: user.gid } : {}
  return spawn(node, [join(installed, 'bin/portreeve.js'), 'serve'], {
    cwd: data,
    env,
    ...rights,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function ready(url: string, { stdout, stderr }: ChildProcess): Promise<void> {
  let said = ''
  for (const stream of [stdout, stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (said += text))
  for (let tries = 0; tries < 300; tries++) {
    if ((await fetch(url).catch(() => null))?.status === 200) return
    await sleep(100)
  }
  throw new Error(`it does not become ready:\n${said}`)
}

describe('the package', () => {
  it('contains only the files that run', () => {
    for (const path of [
      'dist/main.js',
      // Started by name, so the bundle would not have them by itself.
      'dist/report-mail-worker.js',
      'dist/source-worker.js',
      'dist/web-process.js',
      'dist/migrations/0001_accounts.sql',
      'dist/licenses.json',
      'web/dist/index.html',
      'docs/install.md',
      'web/dist/guide/index.html',
      'web/dist/guide/search.json',
      'man/portreeve.1',
      'LICENSE',
    ])
      expect(existsSync(join(installed, path)), path).toBe(true)
    for (const path of [
      'src',
      'test',
      'web/src',
      'node_modules/fastify',
      'node_modules/vitest',
      'node_modules/typescript',
      'node_modules/react',
    ])
      expect(existsSync(join(installed, path)), path).toBe(false)
  })

  it('lists its dependencies', () => {
    const { packages } = JSON.parse(
      readFileSync(join(installed, 'dist/sbom.spdx.json'), 'utf8'),
    ) as {
      packages: { name: string }[]
    }
    expect(packages.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['portreeve', 'fastify', 'pg']),
    )
    expect(packages.map(({ name }) => name)).not.toContain('vitest')
  })

  it(
    'starts from where it is installed, with its own database, and ends cleanly',
    { timeout: 90_000 },
    async () => {
      const [port, metrics] = [await freePort(), await freePort()]
      service = await start(port, metrics)
      for (const address of [metrics, port])
        await ready(`http://127.0.0.1:${address}/readyz`, service)
      const page = await fetch(`http://127.0.0.1:${port}/`)
      expect(await page.text()).toContain('<div id="app">')
      const facts = (await (await fetch(`http://127.0.0.1:${port}/api/v1/service`)).json()) as {
        data: { version: string }
      }
      expect(facts.data.version).toBe(VERSION)
      service.kill('SIGTERM')
      expect(await once(service, 'exit')).toEqual([0, null])
    },
  )
})
