import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findInstallation, parseEnvironmentFile } from '../../src/installation.ts'
import { ROOT } from '../../src/version.ts'
import { runInProcess, runPortreeve } from './command.ts'

let folder: string
let settings: string
let dataDir: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-installation-'))
  settings = join(folder, 'portreeve.env')
  dataDir = join(folder, 'data')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const isRoot = process.getuid?.() === 0
const NOBODY = 65_534

describe('a command beside a service', () => {
  it('has the settings and the data of the service’s environment file, from any folder', async () => {
    mkdirSync(dataDir, { mode: 0o700 })
    if (isRoot) chownSync(dataDir, NOBODY, NOBODY)
    writeFileSync(
      settings,
      `# comment\nBASE_URL=https://mail.example.com\nDATA_DIR=${dataDir}\nSMTP_LISTEN=off\n`,
    )
    const env = { PORTREEVE_ENV_FILE: settings }
    const password = 'a password of hers'
    const words = ['user', 'create', '--email', 'a@example.com', '--password-stdin', '--admin']
    const created = await runPortreeve(words, env, password)
    expect(created).toMatchObject({ code: 0, err: '' })
    const link = await runInProcess(['user', 'reset-link', 'a@example.com'], env)
    expect(link.out).toMatch(/^https:\/\/mail\.example\.com\/reset-password#/m)
    const { out } = await runInProcess(['doctor', '--json'], { ...env, DNS_SERVERS: '127.0.0.1:1' })
    expect(JSON.parse(out).data[0]).toEqual({
      about: 'settings',
      state: 'good',
      sentence: `The settings of ${settings} are valid.`,
    })
  }, 60_000)

  it.runIf(isRoot)(
    'as root, creates no file of root in the folder of the service',
    async () => {
      const backup = join(folder, 'backup.tar.gz')
      const { code } = await runInProcess(['backup', backup], { PORTREEVE_ENV_FILE: settings })
      expect([code, statSync(backup).uid]).toEqual([0, 0])
      const paths = readdirSync(dataDir, { recursive: true }).map(String)
      expect(paths).toContain('secret.key')
      expect(paths.filter((path) => statSync(join(dataDir, path)).uid !== NOBODY)).toEqual([])
    },
    60_000,
  )

  it.runIf(isRoot)(
    'as root, restores a database that the service can open',
    async () => {
      const restored = join(folder, 'restored')
      mkdirSync(restored, { mode: 0o700 })
      chownSync(restored, NOBODY, NOBODY)
      const env = { PORTREEVE_ENV_FILE: settings, DATA_DIR: restored }
      const { code } = await runInProcess(['restore', join(folder, 'backup.tar.gz')], env)
      expect(code).toBe(0)
      expect(statSync(join(restored, 'postgres')).uid).toBe(NOBODY)
    },
    60_000,
  )

  it.runIf(isRoot)('of another user, names the owner of the folder', async () => {
    chmodSync(folder, 0o755)
    const { out, code } = await asUser(1234, ['user', 'list'], { DATA_DIR: dataDir })
    expect([code, out]).toEqual([
      1,
      `Error: ${dataDir} belongs to nobody. Try: the same command as root or nobody, such as sudo portreeve …\n`,
    ])
  })

  it('names a settings file that does not exist', async () => {
    const { code, err } = await runInProcess(['user', 'list'], { PORTREEVE_ENV_FILE: '/nowhere' })
    expect([code, err]).toEqual([2, expect.stringMatching(/PORTREEVE_ENV_FILE .*\/nowhere/)])
  })
})

/** Runs a command as a user without a name, in the same process group. */
async function asUser(uid: number, words: string[], env: Record<string, string>) {
  const { spawnSync } = await import('node:child_process')
  // Sources in a folder that this user may not enter are read with one capability.
  const drop = [
    '--reuid',
    uid,
    '--regid',
    uid,
    '--clear-groups',
    '--inh-caps=-all',
    '--bounding-set=-all',
  ]
  const program = join(ROOT, 'bin', 'portreeve.js')
  const { stdout, stderr, status } = spawnSync(
    'setpriv',
    [...drop.map(String), process.execPath, program, ...words],
    { env: { PATH: process.env['PATH'], ...env }, cwd: '/', encoding: 'utf8' },
  )
  return { out: stdout + stderr, code: status }
}

describe('the folder of a command', () => {
  it('in a checkout is the checkout, as for npm run up', () => {
    const { variables } = findInstallation({}, join(ROOT, 'docs'))
    expect(variables['DATA_DIR']).toBe(join(ROOT, 'data'))
    expect(findInstallation({}, '/srv').variables['DATA_DIR']).toBe('/srv/data')
    expect(findInstallation({ DATA_DIR: 'x' }, '/srv').variables['DATA_DIR']).toBe('x')
  })
})

describe('an environment file', () => {
  it.each([
    ['A=x#y', 'x#y'],
    ['A= x y  ', 'x y'],
    ['  A = "x # y"', 'x # y'],
    ["A='x\\y'", 'x\\y'],
    ['A="x\\"y"', 'x"y'],
    ['A="x\ny"', 'x\ny'],
    ['A=x\\\ny', 'xy'],
    ['A=pa"ss', 'pa"ss'],
    [`A='x'"y"z`, 'xyz'],
    ['A=x\r\n', 'x'],
    ['A=x\nA=y', 'y'],
    ['; A=x', undefined],
    ['#A=x', undefined],
  ])('%j is read as systemd reads it', (text, value) => {
    expect(parseEnvironmentFile(text)['A']).toBe(value)
  })
})
