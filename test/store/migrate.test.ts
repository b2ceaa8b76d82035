import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ADVISORY_LOCKS } from '../../src/store/advisory-locks.ts'
import { openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate-schema.ts'
import { emptyDatabase, type FreshDatabase } from '../database.ts'
import { KINDS, startPostgres } from '../servers/postgres.ts'

describe('migrations', () => {
  let fresh: FreshDatabase
  let folder: string

  beforeEach(async () => {
    fresh = await emptyDatabase()
    folder = mkdtempSync(join(tmpdir(), 'portreeve-migrations-'))
    write('0001_first.sql', 'create table one (id int); insert into one values (1);')
  })
  afterEach(async () => {
    await fresh.drop()
    rmSync(folder, { recursive: true })
  })

  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const count = async (table: string) =>
    Number((await fresh.pool.query(`select count(*) as n from ${table}`)).rows[0].n)

  it('applies each file once, in the order of their numbers', async () => {
    write('0010_third.sql', 'insert into two values (3);')
    write('0002_second.sql', 'create table two (id int);')
    expect(await migrate(fresh.pool, folder)).toEqual(['0001_first', '0002_second', '0010_third'])
    expect(await migrate(fresh.pool, folder)).toEqual([])
    write('0011_fourth.sql', 'insert into two values (4);')
    expect(await migrate(fresh.pool, folder)).toEqual(['0011_fourth'])
    expect(await count('two')).toBe(2)
  })

  it('migrates once when several instances start at the same time', async () => {
    write('0002_slow.sql', 'select pg_sleep(0.2); insert into one values (2);')
    const instances = [1, 2, 3, 4].map(() => openDatabase(fresh.url))
    const applied = await Promise.all(instances.map(({ pool }) => migrate(pool, folder)))
    await Promise.all(instances.map(({ close }) => close()))
    expect(applied.flat().toSorted()).toEqual(['0001_first', '0002_slow'])
    expect(await count('one')).toBe(2)
  })

  const INDEX = `-- without a transaction: the index is large
drop index concurrently if exists one_id;
create index concurrently one_id on one (id);`

  it('creates an index concurrently beside instances that wait', { timeout: 30_000 }, async () => {
    write('0002_slow.sql', '-- without a transaction: slow\nselect pg_sleep(1);')
    write('0003_index.sql', INDEX)
    const instances = [1, 2, 3, 4].map(() => openDatabase(fresh.url))
    const applied = await Promise.all(instances.map(({ pool }) => migrate(pool, folder)))
    await Promise.all(instances.map(({ close }) => close()))
    expect(applied.flat().toSorted()).toEqual(['0001_first', '0002_slow', '0003_index'])
  })

  it('creates it beside an instance of an earlier version, whose statement waits', async () => {
    write('0002_slow.sql', '-- without a transaction: slow\nselect pg_sleep(1);')
    write('0003_index.sql', INDEX)
    const migrating = migrate(fresh.pool, folder)
    const locks = `select pid from pg_locks where locktype = 'advisory' and granted`
    await expect.poll(async () => (await fresh.pool.query(locks)).rows).toHaveLength(1)
    const theirs = await fresh.pool.connect()
    // PostgreSQL ends the statement that looks for deadlocks first: that of the migration.
    await theirs.query(`set deadlock_timeout = '10min'`)
    try {
      await theirs.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.schemaMigration])
    } finally {
      // It finds nothing to do, and ends its session.
      theirs.release(true)
    }
    expect(await migrating).toEqual(['0001_first', '0002_slow', '0003_index'])
  })

  it('rolls a failed migration back, and continues from there once it is fixed', async () => {
    write('0002_broken.sql', 'create table two (id int); insert into nowhere values (1);')
    await expect(migrate(fresh.pool, folder)).rejects.toThrow('0002_broken')
    await expect(count('two')).rejects.toThrow('does not exist')
    write('0002_broken.sql', 'create table two (id int);')
    expect(await migrate(fresh.pool, folder)).toEqual(['0002_broken'])
  })

  it('does not touch a database that a newer version changed incompatibly', async () => {
    write('0002_newer.sql', '-- not additive: drops what we read\ncreate table two (id int);')
    await migrate(fresh.pool, folder)
    rmSync(join(folder, '0002_newer.sql'))
    await expect(migrate(fresh.pool, folder)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/newer Portreeve.*0002_newer/),
    })
  })

  it('starts with a database to which a newer version only added', async () => {
    write('0002_newer.sql', 'create table two (id int);')
    await migrate(fresh.pool, folder)
    rmSync(join(folder, '0002_newer.sql'))
    expect(await migrate(fresh.pool, folder)).toEqual([])
  })

  it('runs a migration without a transaction step by step, and again after a failure', async () => {
    const head = '-- without a transaction: the index is large\n'
    const index =
      'drop index concurrently if exists one_id;\ncreate index concurrently one_id on one (id);\n'
    write('0002_index.sql', `${head}${index}insert into nowhere values (1);`)
    await expect(migrate(fresh.pool, folder)).rejects.toThrow('is repeated at the next start')
    write('0002_index.sql', head + index)
    expect(await migrate(fresh.pool, folder)).toEqual(['0002_index'])
    const { rows } = await fresh.pool.query(
      `select indisvalid as "isValid" from pg_index where indexrelid = 'one_id'::regclass`,
    )
    expect(rows).toEqual([{ isValid: true }])
  })

  it('lets others through while it waits for a lock', async () => {
    await migrate(fresh.pool, folder)
    write('0002_column.sql', 'alter table one add column name text;')
    const holder = await fresh.pool.connect()
    try {
      await holder.query('begin; select * from one')
      const migrating = migrate(fresh.pool, folder)
      const isWaiting = `select 1 from pg_locks where not granted and relation = 'one'::regclass`
      await vi.waitFor(async () =>
        expect((await fresh.pool.query(isWaiting)).rows.length).toBeGreaterThan(0),
      )
      // Queued behind the migration, which gives way before this times out.
      await fresh.pool.query(`begin; set local lock_timeout = '10s'; select * from one; commit`)
      await holder.query('commit')
      expect(await migrating).toEqual(['0002_column'])
    } finally {
      holder.release()
    }
  })

  it('stops when a migration was changed after it was applied', async () => {
    await migrate(fresh.pool, folder)
    write('0001_first.sql', 'create table one (id bigint);')
    await expect(migrate(fresh.pool, folder)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/0001_first is not the one/),
    })
  })

  it('treats Windows line endings as the same migration', async () => {
    write('0001_first.sql', 'create table one\n(id int);')
    await migrate(fresh.pool, folder)
    write('0001_first.sql', 'create table one\r\n(id int);')
    expect(await migrate(fresh.pool, folder)).toEqual([])
  })

  it('does not insert a migration before an applied one', async () => {
    write('0003_third.sql', 'create table three (id int);')
    await migrate(fresh.pool, folder)
    write('0002_late.sql', 'create table two (id int);')
    await expect(migrate(fresh.pool, folder)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/0002_late was never applied/),
    })
  })
})

it.each(KINDS)('our own migrations are applied on %s', async (kind) => {
  const server = kind === 'embedded' ? null : await startPostgres(kind)
  const fresh = await emptyDatabase(server?.url)
  expect((await migrate(fresh.pool))[0]).toBe('0001_accounts')
  expect(await migrate(fresh.pool)).toEqual([])
  await fresh.drop()
  await server?.stop()
})
