import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { startEmbedded } from '../../src/store/embedded.ts'
import { PROGRAM, runPortreeve, SURROUNDINGS, type Outcome } from '../cli/command.ts'
import { emptyDatabase } from '../database.ts'
import { freePort } from '../free-port.ts'
import { startPostgres, type Postgres } from '../servers/postgres.ts'
import { migrateUpTo } from '../store/migrate-up-to.ts'
import { figure } from './figures.ts'

const INSTANCES = 8
/** Of each kind: those that create an account, and those that read. */
const COMMANDS = 6
/** Of each of the four kinds of databases. */
const ROUNDS = Number(process.env['PORTREEVE_ROUNDS'] ?? 13)
const TIMEOUT = ROUNDS * 120_000

/** The last migration before those that create indexes concurrently. */
const OLD = '0325'

let folder: string
let server: Postgres
/** A data folder with a database of an old version. */
let old: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-starting-'))
  chmodSync(folder, 0o755)
  server = await startPostgres('embedded')
  old = join(folder, 'old')
  const embedded = await startEmbedded({ dataDir: old, log: createLog('silent') })
  const { pool, close } = openDatabase(embedded.url)
  await migrateUpTo(pool, OLD)
  await close()
  await embedded.stop()
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

type Ended = Outcome & { signal: NodeJS.Signals | null }
type Started = { isReady: boolean; stop(): Promise<Ended> }

/** Starts the service; resolves when it is ready or has ended. */
async function serve(env: Record<string, string>): Promise<Started> {
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    cwd: tmpdir(),
    env: { ...SURROUNDINGS, ...env, PORT: String(await freePort()) },
  })
  let [out, err] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const ended = once(child, 'close')
  const isReady = await new Promise<boolean>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      if (out.includes('Portreeve is ready')) resolve(true)
    })
    void ended.then(() => resolve(false))
  })
  return {
    isReady,
    async stop() {
      child.kill('SIGTERM')
      const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null]
      return { code, signal, out, err }
    },
  }
}

const createAccount = (env: Record<string, string>, n: number) =>
  runPortreeve(
    ['user', 'create', '--email', `n${n}@people.test`, '--password-stdin'],
    env,
    'a password of somebody\n',
  )

/**
 * Starts all at the same instant, and stops the instances with commands beside them. Each ends with
 * its work done, or with one sentence.
 */
async function startTogether(settings: Record<string, string>): Promise<void> {
  const env = {
    SMTP_LISTEN: 'off',
    SECRET_KEY: 'the key of instances that start together',
    ...settings,
  }
  const isEmbedded = settings['DATABASE_URL'] === undefined
  const numbers = Array.from({ length: COMMANDS }, (_, n) => n)
  const [instances, created, listed] = await Promise.all([
    Promise.all(Array.from({ length: INSTANCES }, () => serve(env))),
    Promise.all(numbers.map((n) => createAccount(env, n))),
    Promise.all(numbers.map(() => runPortreeve(['user', 'list'], env))),
  ])
  const accounts = (await runPortreeve(['user', 'list'], env)).out
  const stopping = [runPortreeve(['user', 'list'], env), runPortreeve(['user', 'list'], env)]
  const ended = await Promise.all(instances.map((instance) => instance.stop()))
  const beside = await Promise.all(stopping)

  const all = [...created, ...listed, ...ended, ...beside]
  expect(all.map(({ err }) => err).filter((err) => /^ {4}at /m.test(err))).toEqual([])
  const refusal = {
    code: 1,
    signal: null,
    out: expect.any(String),
    err: expect.stringMatching(/^Error: Another Portreeve is using .*\n$/),
  }
  // With their logs, so that a failure shows what an instance did.
  expect(ended.filter((_, n) => !instances[n]?.isReady)).toEqual(
    Array.from({ length: isEmbedded ? INSTANCES - 1 : 0 }, () => refusal),
  )
  expect(ended.filter(({ code }, n) => code !== 0 && instances[n]?.isReady)).toEqual([])
  expect(created.filter(({ code }) => code !== 0)).toEqual([])
  expect(accounts.trim().split('\n')).toHaveLength(COMMANDS)
  // In an empty folder there may be no database yet.
  for (const { code, err } of listed)
    expect([code, err]).toEqual(
      code === 0 || !isEmbedded
        ? [0, expect.anything()]
        : [1, expect.stringMatching(/^Error: No database found .*\n$/)],
    )
  for (const { code, err } of beside)
    expect([code, err]).toEqual(
      code === 0 ? [0, expect.anything()] : [1, expect.stringMatching(/^Error: .*\n$/)],
    )
}

describe('eight instances and a dozen commands, started at the same instant', () => {
  it.each([
    { where: 'an empty external database', isEmbedded: false, isOld: false },
    { where: 'an external database of an old version', isEmbedded: false, isOld: true },
    { where: 'an empty data folder', isEmbedded: true, isOld: false },
    { where: 'a data folder of an old version', isEmbedded: true, isOld: true },
  ])('all end well on $where', { timeout: TIMEOUT }, async ({ where, isEmbedded, isOld }) => {
    const milliseconds: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const dataDir = join(folder, `round-${isEmbedded}-${isOld}-${round}`)
      const fresh = isEmbedded ? null : await emptyDatabase(server.url)
      if (isOld && fresh) await migrateUpTo(fresh.pool, OLD)
      if (isOld && isEmbedded) execFileSync('cp', ['-a', old, dataDir])
      const begun = performance.now()
      await startTogether({ DATA_DIR: dataDir, ...(fresh && { DATABASE_URL: fresh.url }) })
      milliseconds.push(performance.now() - begun)
      await fresh?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    }
    const longest = (Math.max(...milliseconds) / 1_000).toFixed(0)
    figure(
      `${INSTANCES} instances and ${2 * COMMANDS} commands started at the same instant on ${where}, ${ROUNDS} times`,
      `all ended well; the longest round, with the stops, took ${longest} s`,
    )
  })
})
