import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAM } from '../cli/command.ts'
import { startInstance, type Instance } from '../deploy/instance.ts'
import { startNginx, type Nginx } from '../deploy/nginx.ts'
import { freePort } from '../free-port.ts'
import { startPostgres, type Postgres } from '../servers/postgres.ts'
import { figure } from './figures.ts'
import { countsOf, NOTHING, startLoad, type Load } from './load.ts'
import { startMoving } from './moving.ts'
import { startPlace, type Place } from './place.ts'

/**
 * The oldest version that is able to start on a newer schema (version 0.2.0 is not, and needs
 * packages that are no longer installed). Migrations were added since.
 */
const OLD = 'a1aa2912'

/**
 * What nginx and a stopping instance of that version answer: it resets connections, and rejects
 * requests on those that are kept alive.
 */
const FAILURES_OF_OLD_STOPS = ['502', '503']

/**
 * Time to stop, before the process is killed. One of that version may stay for 15 minutes when a
 * migration was running.
 */
const PATIENCE_MS = 15_000

/** The share of requests that may get 502 when this version is restarted. */
const MAY_FAIL = 0.001

const ROLES = ['web,worker', 'web,worker', 'web,worker,smtp']

let oldFolder: string
let database: Postgres
let place: Place
let instances: Instance[]
let environments: Record<string, string>[]
let nginx: Nginx
let moving: Awaited<ReturnType<typeof startMoving>>

beforeAll(async () => {
  oldFolder = checkOut(OLD)
  ;[database, moving] = await Promise.all([
    startPostgres('embedded', { isDurable: true }),
    startMoving(1_500, 150),
  ])
  const settings = {
    DATABASE_URL: database.url,
    SECRET_KEY: 'the key of a service that is being upgraded',
  }
  const program = join(oldFolder, 'bin/portreeve.js')
  place = await startPlace({ ...settings, ROLES: ROLES[0] ?? '' }, program)
  environments = [place.env]
  for (const roles of ROLES.slice(1))
    environments.push({ ...place.env, ROLES: roles, PORT: String(await freePort()) })
  const others = environments.slice(1).map((env) => startInstance(env, program))
  instances = [place.instance, ...(await Promise.all(others))]
  nginx = await startNginx(instances.map(({ url }) => url))
}, 180_000)
afterAll(async () => {
  await nginx.stop()
  await Promise.all(instances.map((instance) => instance.kill()))
  await Promise.all([place.stop(), moving.stop()])
  await database.stop()
  rmSync(oldFolder, { recursive: true })
})

describe('three instances of an older version behind nginx, replaced one by one under load', () => {
  it('lose nothing that was acknowledged, and the older version can start again meanwhile', async () => {
    const proxied = throughProxy()
    const before = await countMigrations()
    const load = await startLoad(proxied, { pause: 20 })
    const migrationId = await moving.begin(proxied)
    await sleep(2_000)
    const replaced = [await replace(0, PROGRAM, load)]
    const added = (await countMigrations()) - before
    expect(added).toBeGreaterThan(0)
    await sleep(2_000)
    replaced.push(await replace(2, join(oldFolder, 'bin/portreeve.js'), load))
    for (const n of [1, 2]) {
      await sleep(2_000)
      replaced.push(await replace(n, PROGRAM, load))
    }
    await sleep(2_000)
    const acknowledged = await load.stop()
    expect(await load.missing()).toEqual(NOTHING)
    await moving.isWhole(proxied, migrationId)
    const failures = replaced.reduce((sum, { failed }) => sum + failed, 0)
    expect(failuresOf(load)).toBe(failures)
    const statuses = Object.keys(load.others())
    expect(statuses.filter((status) => !FAILURES_OF_OLD_STOPS.includes(status))).toEqual([])
    const slowest = Math.max(...Object.values(load.slowest()))
    figure(
      `three instances behind nginx upgraded one by one, over ${added} schema migrations, under mixed load`,
      `nothing acknowledged is lost: ${countsOf(acknowledged)}, one migration of 1,500 mails; ` +
        `${failures} requests got 502 or 503 from a stopping instance of the older version, ` +
        `the slowest took ${(slowest / 1_000).toFixed(1)} s; each instance was ` +
        `back after ${Math.max(...replaced.map(({ seconds }) => seconds)).toFixed(1)} s at most, the older version restarted on the new schema, too`,
    )
  })

  it('lose hardly any request afterwards, when this version is restarted, and end by themselves', async () => {
    const load = await startLoad(throughProxy(), {
      pause: 5,
      connections: { captures: 24, reports: 8 },
      series: 'restart',
      network: 120,
    })
    const replaced: Replaced[] = []
    for (const n of [0, 1, 2, 0, 1, 2]) replaced.push(await replace(n, PROGRAM, load))
    const acknowledged = await load.stop()
    expect(replaced.filter(({ hasEnded }) => !hasEnded)).toEqual([])
    // A port that is closed resets connections that came after the last look at it: nginx says 502.
    expect(Object.keys(load.others()).filter((status) => status !== '502')).toEqual([])
    expect(failuresOf(load)).toBeLessThan(acknowledged.captures.size * MAY_FAIL)
    figure(
      'three instances of this version behind nginx restarted one by one, twice, under mixed load',
      `${failuresOf(load)} requests got 502, beside ${countsOf(acknowledged)}`,
    )
  })
})

/** The sources of an older version, with the packages of this one. */
function checkOut(commit: string): string {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { stdio: 'pipe' })
  } catch {
    throw new Error(
      `This test needs the commit ${commit}, which a shallow clone or an archive lacks: git fetch --unshallow`,
    )
  }
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-old-'))
  const archive = execFileSync('git', ['archive', commit], { maxBuffer: 1 << 30 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  return folder
}

function throughProxy(): Place {
  return {
    ...place,
    url: nginx.url,
    api(path, method = 'GET', body) {
      const headers: Record<string, string> = { authorization: `Bearer ${place.token}` }
      if (body !== undefined) headers['content-type'] = 'application/json'
      return fetch(nginx.url + path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    },
  }
}

type Replaced = {
  /** Until the program in its place is ready. */
  seconds: number
  /** How many requests failed while it stopped. */
  failed: number
  /** Whether it ended by itself. */
  hasEnded: boolean
}

/** Stops an instance and starts the program in its place. */
async function replace(n: number, program: string, load: Load): Promise<Replaced> {
  const begun = performance.now()
  const before = failuresOf(load)
  const hasEnded = await end(n)
  const failed = failuresOf(load) - before
  instances[n] = await startInstance(environments[n] ?? {}, program)
  return { seconds: (performance.now() - begun) / 1_000, failed, hasEnded }
}

/** Ends an instance as a service manager does. @returns whether it ended by itself */
async function end(n: number): Promise<boolean> {
  const instance = instances[n]
  const timer = setTimeout(() => instance?.child.kill('SIGKILL'), PATIENCE_MS)
  await instance?.kill('SIGTERM')
  clearTimeout(timer)
  return instance?.child.signalCode === null
}

function failuresOf(load: Load): number {
  return Object.values(load.others()).reduce((sum, count) => sum + count, 0)
}

async function countMigrations(): Promise<number> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const { rows } = await client.query<{ n: number }>(
    'select count(*)::int as n from schema_migration',
  )
  await client.end()
  return rows[0]?.n ?? 0
}
