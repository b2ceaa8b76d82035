import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PgBoss } from 'pg-boss'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { startEmbedded } from '../../src/store/embedded.ts'
import { migrate } from '../../src/store/migrate-schema.ts'
import { emptyDatabase } from '../database.ts'
import { startPostgres, type Postgres } from '../servers/postgres.ts'
import { countRows, fillEveryTable, readTables } from '../store/old-rows.ts'
import { PROGRAM, runInProcess, SURROUNDINGS } from './command.ts'

const log = createLog('silent')
const LARGE_BYTES = 30_000_000

let folder: string
let server: Postgres
let here: string
/** Rows of each table. */
let counts: Record<string, number>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-copy-'))
  chmodSync(folder, 0o755)
  here = join(folder, 'here')
  const [embedded, postgres] = await Promise.all([
    startEmbedded({ dataDir: here, log }),
    startPostgres('debian15'),
  ])
  server = postgres
  const { pool, close } = openDatabase(embedded.url)
  await migrate(pool)
  await fillEveryTable(pool)
  await pool.query(
    `update webhook_request set body = convert_to(repeat('x', ${LARGE_BYTES}), 'UTF8')`,
  )
  const boss = new PgBoss({ connectionString: embedded.url })
  await boss.start()
  await boss.createQueue('copied')
  await boss.send('copied', { n: 1 })
  await boss.stop({ graceful: false })
  counts = await countRows(pool, await readTables(pool))
  await close()
  await embedded.stop()
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

const copy = (to: string, env: Record<string, string>) =>
  runInProcess(['database', 'copy', '--to', to], env)

async function countsOf(url: string) {
  const { pool, close } = openDatabase(url)
  const found = await countRows(pool, await readTables(pool))
  const { rows } = await pool.query<{ bytes: string; jobs: string }>(
    `select (select max(length(body)) from webhook_request) as bytes,
       (select count(*) from pgboss.job where name = 'copied') as jobs`,
  )
  await close()
  return { found, ...rows[0] }
}
const whole = () => ({ found: counts, bytes: LARGE_BYTES, jobs: 1 })

describe('portreeve database copy', { timeout: 120_000 }, () => {
  it('moves an embedded database to PostgreSQL 15 and back, and compares every table', async () => {
    const { url, drop } = await emptyDatabase(server.url)
    const moved = await copy(url, { DATA_DIR: here })
    expect(moved).toMatchObject({
      code: 0,
      out: expect.stringMatching(/both databases are equal.*secret\.key\.\n$/s),
      err: expect.stringMatching(/Copying rows….*Creating indexes.*Comparing every table…/s),
    })
    expect(await countsOf(url)).toEqual(whole())
    const again = await copy(url, { DATA_DIR: here })
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('The target is not empty')])

    const back = join(folder, 'back')
    const returned = await copy('embedded', { DATABASE_URL: url, DATA_DIR: back })
    expect([returned.code, returned.err]).toEqual([0, expect.stringContaining('Comparing')])
    const embedded = await startEmbedded({ dataDir: back, log })
    expect(await countsOf(embedded.url)).toEqual(whole())
    // Its identity columns continue where they were, and its triggers work.
    const { pool, close } = openDatabase(embedded.url)
    await migrate(pool)
    await expect(fillEveryTable(pool)).resolves.not.toThrow()
    await close()
    await embedded.stop()
    await drop()
  })

  it('refuses a source or a target that is in use', async () => {
    const { url, pool, drop } = await emptyDatabase(server.url)
    const running = await startEmbedded({ dataDir: here, log })
    const busy = await copy(url, { DATA_DIR: here })
    expect([busy.code, busy.err]).toEqual([
      1,
      expect.stringMatching(/^Error: Another Portreeve is/),
    ])
    await running.stop()

    await migrate(pool)
    await pool.query('select 1')
    const used = { DATABASE_URL: url, DATA_DIR: join(folder, 'used') }
    const refused = await copy('embedded', used)
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining('Stop every instance of Portreeve first'),
    ])
    await drop()
  })

  it('leaves nothing behind when it is killed, and copies everything at the next run', async () => {
    const { url, pool, drop } = await emptyDatabase(server.url)
    const child = spawn(process.execPath, [PROGRAM, 'database', 'copy', '--to', url], {
      cwd: tmpdir(),
      env: { ...SURROUNDINGS, DATA_DIR: here },
    })
    child.stderr.on('data', (text: Buffer) => text.includes('Comparing') && child.kill('SIGKILL'))
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    const tables = `select count(*)::int as n from pg_tables where schemaname in ('public', 'pgboss')`
    expect((await pool.query(tables)).rows).toEqual([{ n: 0 }])
    expect(await copy(url, { DATA_DIR: here })).toMatchObject({ code: 0 })
    expect(await countsOf(url)).toEqual(whole())
    await drop()
  })

  it('explains what a target must be', async () => {
    const env = { DATA_DIR: here }
    expect(await copy('embedded', env)).toMatchObject({ code: 2 })
    expect(await copy('mysql://db', env)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--to must be a URL that starts with postgres://'),
    })
    const away = await copy('postgres://portreeve@127.0.0.1:1/portreeve', env)
    expect([away.code, away.err]).toEqual([
      1,
      expect.stringMatching(/PostgreSQL does not answer at the target: .*ECONNREFUSED/),
    ])
  })
})
