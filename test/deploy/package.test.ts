import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyTemplate } from '../../src/store/embedded/database-template.ts'
import { VERSION } from '../../src/version.ts'
import { freePort } from '../free-port.ts'
import { stagesOf } from './dockerfile.ts'
import { isInContext } from './dockerignore.ts'

const ROOT = join(import.meta.dirname, '../..')

let folder: string
let installed: string
let node: string
let service: ChildProcess | undefined
const isRoot = process.getuid?.() === 0

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-package-'))
  chmodSync(folder, 0o755)
  const checkout = join(folder, 'checkout')
  installed = join(folder, 'opt/portreeve')
  mkdirSync(checkout)
  mkdirSync(join(folder, 'data'), { mode: 0o755 })
  node = join(folder, 'node')
  copyFileSync(process.execPath, node)
  copyContext(checkout)
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  mkdirSync(join(folder, 'tmp'))
  mkdirSync(installed, { recursive: true })
  run(checkout, 'npm pack --silent --pack-destination ../tmp')
  copyFileSync(join(ROOT, 'package-lock.json'), join(folder, 'tmp/package-lock.json'))
  run(installed, stepsOf('package').slice(0, 2).join('\n'))
}, 300_000)
afterAll(async () => {
  if (service?.exitCode === null) {
    service.kill('SIGKILL')
    await once(service, 'exit')
  }
  rmSync(folder, { recursive: true, force: true })
})

/**
 * Every RUN of a stage of the Dockerfile, with the folders of the image in ours; the machine's npm
 * cache stays.
 */
function stepsOf(stage: string): string[] {
  const { runs = [] } =
    stagesOf(readFileSync('deploy/Dockerfile', 'utf8')).find(({ name }) => name === stage) ?? {}
  return runs.map((script) =>
    script.replaceAll('/tmp/', `${folder}/tmp/`).replace('npm cache clean --force', 'true'),
  )
}

/** Copies what the build of the image has. It builds web/dist and dist, so that no other test loses its own. */
function copyContext(checkout: string): void {
  const ignored = readFileSync(join(ROOT, 'deploy/Dockerfile.dockerignore'), 'utf8')
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', listed, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  const needed = files.filter((file) => isInContext(ignored, file) && existsSync(join(ROOT, file)))
  const list = join(folder, 'context')
  writeFileSync(list, needed.join('\n'))
  run(ROOT, `tar --create --files-from ${list} | tar --extract --directory ${checkout}`)
}

function run(cwd: string, script: string): void {
  const env = {
    ...process.env,
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
  }
  execFileSync('/bin/sh', ['-ec', script], { cwd, env, stdio: 'pipe' })
}

/** A number without a name, as a container may run as. */
const NAMELESS = 4242

/** Runs a command like the image: an unprivileged user with one writable folder for data. */
function start(words: string[], port: number, metrics: number): ChildProcess {
  const data = join(folder, 'data')
  const env = {
    PATH: '/usr/bin:/bin',
    DATA_DIR: data,
    PORT: String(port),
    SMTP_LISTEN: 'off',
    METRICS_LISTEN: `127.0.0.1:${metrics}`,
  }
  const rights = isRoot ? { uid: NAMELESS, gid: NAMELESS } : {}
  return spawn(node, [join(installed, 'bin/portreeve.js'), ...words], {
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

  it('gives each copy of its prepared database an identifier of its own', () => {
    const template = join(installed, 'dist/database')
    const identifiers = ['one', 'two'].map((name) => {
      const copy = join(folder, name)
      copyTemplate(copy, template)
      const read = (file: string, offset: number) =>
        readFileSync(join(copy, file)).readBigUInt64LE(offset)
      expect(read('pg_wal/000000010000000000000001', 24)).toBe(read('global/pg_control', 0))
      return read('global/pg_control', 0)
    })
    expect(new Set(identifiers).size).toBe(2)
    const damaged = join(folder, 'two')
    writeFileSync(join(damaged, 'global/pg_control'), 'x'.repeat(8_192))
    expect(() => copyTemplate(join(folder, 'three'), damaged)).toThrow('no valid checksum')
  })

  it('refuses to start without a data file', async () => {
    const file = join(installed, 'data/common-passwords.txt')
    renameSync(file, `${file}.away`)
    const refused = start(['serve'], await freePort(), await freePort())
    const [output] = await Promise.all([textOf(refused.stderr as Readable), once(refused, 'exit')])
    renameSync(`${file}.away`, file)
    expect(refused.exitCode).toBe(1)
    expect(output).toContain(
      'This installation is incomplete: it lacks data/common-passwords.txt. Install Portreeve again.',
    )
  })

  it.runIf(isRoot)('says whose folder it may not use, and how to change that', async () => {
    const refused = start(['serve'], await freePort(), await freePort())
    const [output] = await Promise.all([textOf(refused.stderr as Readable), once(refused, 'exit')])
    expect(refused.exitCode).toBe(1)
    const data = join(folder, 'data')
    expect(output).toContain(
      `Portreeve runs as user 4242:4242 and may not use ${data}, which belongs to 0:0. ` +
        `Run chown -R 4242:4242 ${data} (of a container: on the host, with the path of the mounted folder), ` +
        'or start Portreeve as the owner (--user 0:0).',
    )
    chownSync(data, NAMELESS, NAMELESS)
  })

  it(
    'starts from where it is installed, as a user without a name, with its own database, and ends cleanly',
    { timeout: 90_000 },
    async () => {
      const [port, metrics] = [await freePort(), await freePort()]
      service = start(['serve'], port, metrics)
      for (const address of [metrics, port])
        await ready(`http://127.0.0.1:${address}/readyz`, service)
      const page = await fetch(`http://127.0.0.1:${port}/`)
      expect(await page.text()).toContain('<div id="app">')
      const facts = (await (await fetch(`http://127.0.0.1:${port}/api/v1/service`)).json()) as {
        data: { version: string }
      }
      expect(facts.data.version).toBe(VERSION)
      const health = start(['health'], port, metrics)
      expect(await once(health, 'exit')).toEqual([0, null])
      service.kill('SIGTERM')
      expect(await once(service, 'exit')).toEqual([0, null])
    },
  )
})
