import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { backUp, restore } from '../../src/store/backup.ts'
import { openDatabase } from '../../src/store/database.ts'
import { startEmbedded, type Embedded } from '../../src/store/embedded.ts'
import { findOlderBinaries } from '../../src/store/embedded/binaries.ts'
import { serverAddressOf } from '../../src/store/embedded/connection.ts'
import { end, launch } from '../../src/store/embedded/launch.ts'
import { processesOf } from '../../src/store/embedded/leftovers.ts'
import { isRoot, unprivilegedUser } from '../../src/store/embedded/database-user.ts'
import { openMigrated } from '../../src/store/migrate-schema.ts'
import { initdbsOf } from './initdbs.ts'
import { makeOldFolder } from './old-folder.ts'
import { countRows, readTables } from './old-rows.ts'

const log = createLog('silent')
const CHILD = join(import.meta.dirname, 'embedded.child.ts')
const ROWS = 10_000

let place: string
let old: string
/** What the old server answered. */
let before: { sum: unknown; triggers: unknown; last: unknown }
let dataDir: string
/** A data folder that was upgraded, and stopped. */
let upgraded: string | undefined
let running: Embedded | undefined

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'portreeve-major-'))
  chmodSync(place, 0o755)
  old = newFolder()
  await makeOldFolder(old, ROWS)
  const [sum, [, triggers] = [], [last] = []] = await askOld(SUM, KEYS, POSITION)
  before = { sum, triggers, last }
})
afterAll(() => rmSync(place, { recursive: true }))
beforeEach(() => {
  dataDir = newFolder()
  copy(join(old, 'postgres'), join(dataDir, 'postgres'))
})
afterEach(async () => {
  await running?.stop()
  running = undefined
})

function newFolder(): string {
  const folder = mkdtempSync(join(place, 'data-'))
  chmodSync(folder, 0o755)
  return folder
}

/** Copies a folder with its owners. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to])
}

/** Goes on with a data folder that was upgraded: an upgrade takes seconds. */
async function useUpgraded(): Promise<void> {
  if (upgraded === undefined) {
    await start()
    await keepUpgraded()
  }
  const folder = newFolder()
  for (const name of readdirSync(upgraded ?? ''))
    copy(join(upgraded ?? '', name), join(folder, name))
  dataDir = folder
}

async function keepUpgraded(): Promise<void> {
  await running?.stop()
  running = undefined
  upgraded = dataDir
}

const start = async () => (running = await startEmbedded({ dataDir, log }))
const majorIn = (name: string) => readFileSync(join(dataDir, name, 'PG_VERSION'), 'utf8').trim()

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement)
    return rows.map((row) => Object.values(row)).flat()
  } finally {
    await client.end()
  }
}

const SUM = `select count(*)::int, sum(hashtextextended(r::text, 0))::text from webhook_request r`
const POSITION = `select last_value::int from pg_sequences where sequencename like 'migration_error%'`
const KEYS = `select count(*)::int from pg_constraint union all select count(*)::int from pg_trigger where not tgisinternal`

/** What the old server answers, on a copy of the folder. */
async function askOld(...statements: string[]): Promise<unknown[][]> {
  const folder = join(newFolder(), 'postgres')
  copy(join(old, 'postgres'), folder)
  const user = isRoot() ? unprivilegedUser() : null
  const address = serverAddressOf(folder, user)
  const binaries = findOlderBinaries(15, `${folder}.lib`)
  const run = await launch({ folder, binaries, user, address, log })
  const answers = []
  for (const statement of statements)
    answers.push(await ask(address.url('postgres', 'portreeve'), statement))
  await end(run)
  return answers
}

describe('a data folder of PostgreSQL 15', () => {
  it('is upgraded at the start with all its data, and the old one is kept', async () => {
    const { url } = await start()
    expect([majorIn('postgres'), majorIn('postgres.15')]).toEqual(['18', '15'])
    expect(readdirSync(dataDir).toSorted()).toEqual(['postgres', 'postgres.15', 'postgres.lock'])
    expect(await ask(url, SUM)).toEqual(before.sum)
    expect(
      await ask(url, `select state::text, data::text from pgboss.job where name = 'kept'`),
    ).toEqual(['created', '{"still": "to do"}'])
    expect(
      await ask(
        url,
        'select distinct tableowner::text from pg_tables where schemaname = $$public$$',
      ),
    ).toEqual(['portreeve'])
    const { pool, close } = openDatabase(url)
    const counts = await countRows(pool, await readTables(pool))
    await close()
    expect(Object.entries(counts).filter(([, rows]) => rows === 0)).toEqual([])
    await keepUpgraded()
  })

  it('is like any other from then on', async () => {
    await useUpgraded()
    await (await openMigrated((await start()).url)).close()
    await running?.stop()
    expect(await ask((await start()).url, 'select count(*)::int from webhook_request')).toEqual([
      ROWS + 1,
    ])
  })

  it('has keys, triggers and counters as before', async () => {
    await useUpgraded()
    const { url } = await start()
    expect((await ask(url, KEYS))[1]).toBe(before.triggers)
    const endpoint = '(select id from webhook_endpoint limit 1)'
    await expect(ask(url, `insert into api_token (id) values (gen_random_uuid())`)).rejects.toThrow(
      'not-null',
    )
    await expect(
      ask(url, `update webhook_endpoint set workspace_id = gen_random_uuid()`),
    ).rejects.toThrow('foreign key')
    const [next] = await ask(
      url,
      `insert into migration_error (migration_id, folder, code, message, attempts)
      select migration_id, folder, code, message, attempts from migration_error limit 1 returning id`,
    )
    expect(Number(next)).toBe(Number(before.last) + 1)
    await ask(url, `delete from webhook_endpoint where id = ${endpoint}`)
    expect(await ask(url, 'select count(*)::int from webhook_request')).toEqual([0])
  })

  it(
    'is whole whenever the upgrade is killed, and carried over at the next start',
    { timeout: 120_000 },
    async () => {
      for (let round = 0; round < 5; round++) {
        const child = spawn(process.execPath, [CHILD, dataDir], { stdio: 'ignore' })
        await expect
          .poll(() => readdirSync(dataDir).join(), { interval: 10 })
          .toMatch(/upgrading|postgres\.15/)
        await sleep(Math.random() * 2_500)
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      // An initdb that outlives its killed parent still writes to its folder; the next start after
      // its end removes it.
      await expect.poll(() => initdbsOf(dataDir), { timeout: 60_000 }).toEqual([])
      const { url } = await start()
      expect(await ask(url, SUM)).toEqual(before.sum)
      expect(readdirSync(dataDir).toSorted()).toEqual(['postgres', 'postgres.15', 'postgres.lock'])
      for (const name of ['postgres.15', 'postgres.upgrading'])
        expect(processesOf(join(dataDir, name))).toEqual([])
    },
  )

  it.each(['with the old one in its place', 'with none in its place'])(
    'whose upgrade was interrupted before its last step is completed, %s',
    async (how) => {
      await useUpgraded()
      const path = (name: string) => join(dataDir, name)
      renameSync(path('postgres'), path('postgres.upgraded'))
      if (how.includes('old one')) renameSync(path('postgres.15'), path('postgres'))
      const { url } = await start()
      expect(await ask(url, 'select count(*)::int from webhook_request')).toEqual([ROWS + 1])
      expect(readdirSync(dataDir).toSorted()).toEqual(['postgres', 'postgres.15', 'postgres.lock'])
    },
  )

  it('stays unchanged when it contains unknown objects', async () => {
    const folder = join(dataDir, 'postgres')
    const user = isRoot() ? unprivilegedUser() : null
    const address = serverAddressOf(folder, user)
    const run = await launch({
      folder,
      binaries: findOlderBinaries(15, `${folder}.lib`),
      user,
      address,
      log,
    })
    await ask(
      address.url('portreeve', 'portreeve'),
      'create materialized view mine as select 1 as one',
    )
    await end(run)
    await expect(start()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/public\.mine.*Nothing was changed/),
    })
    expect(readdirSync(dataDir)).toEqual(['postgres', 'postgres.lock'])
    expect(majorIn('postgres')).toBe('15')
  })

  it('is restored from its backup', { timeout: 120_000 }, async () => {
    const folder = join(dataDir, 'postgres')
    const user = isRoot() ? unprivilegedUser() : null
    const address = serverAddressOf(folder, user)
    const run = await launch({
      folder,
      binaries: findOlderBinaries(15, `${folder}.lib`),
      user,
      address,
      log,
    })
    const file = join(dataDir, 'old.backup')
    await backUp({ dataDir, log, file })
    await end(run)
    dataDir = newFolder()
    await restore({ dataDir, log, file })
    expect(readdirSync(dataDir)).toEqual(['postgres', 'postgres.lock'])
    const { url } = await start()
    expect(await ask(url, SUM)).toEqual(before.sum)
  })
})

describe('a PostgreSQL that is not here', () => {
  it('is named, with the way to install it', () => {
    expect(() => findOlderBinaries(12, '/nowhere')).toThrow(
      /PostgreSQL 12.*apt-get install postgresql-12.*Nothing was/,
    )
    expect(existsSync('/nowhere')).toBe(false)
  })
})
