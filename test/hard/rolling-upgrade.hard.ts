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
import { countsOf, NOTHING, startLoad } from './load.ts'
import { startMoving } from './moving.ts'
import { startPlace, type Place } from './place.ts'

/**
 * The oldest version that is able to start on a newer schema (version 0.2.0 is not, and needs
 * packages that are no longer installed). Migrations were added since.
 */
const OLD = 'a1aa2912'

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
    const seconds = [await replace(0, PROGRAM)]
    const added = (await countMigrations()) - before
    expect(added).toBeGreaterThan(0)
    await sleep(2_000)
    seconds.push(await replace(2, join(oldFolder, 'bin/portreeve.js')))
    for (const n of [1, 2]) {
      await sleep(2_000)
      seconds.push(await replace(n, PROGRAM))
    }
    await sleep(2_000)
    const acknowledged = await load.stop()
    expect(await load.missing()).toEqual(NOTHING)
    await moving.isWhole(proxied, migrationId)
    const failures = load.others()
    // nginx reports requests that were running in an instance as it stopped.
    expect(Object.keys(failures).filter((status) => status !== '502')).toEqual([])
    const slowest = Math.max(...Object.values(load.slowest()))
    figure(
      `three instances behind nginx upgraded one by one, over ${added} schema migrations, under mixed load`,
      `nothing acknowledged is lost: ${countsOf(acknowledged)}, one migration of 1,500 mails; ` +
        `${failures[502] ?? 0} requests got 502, the slowest took ${(slowest / 1_000).toFixed(1)} s; each instance was ` +
        `back after ${Math.max(...seconds).toFixed(1)} s at most, the older version restarted on the new schema, too`,
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

/** Stops an instance and starts the program in its place. @returns seconds until it is ready */
async function replace(n: number, program: string): Promise<number> {
  const begun = performance.now()
  await instances[n]?.kill('SIGTERM')
  instances[n] = await startInstance(environments[n] ?? {}, program)
  return (performance.now() - begun) / 1_000
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
