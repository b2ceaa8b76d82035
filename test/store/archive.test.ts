import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { startArchiver, type Archiver } from '../../src/store/archive/archiver.ts'
import { expire } from '../../src/store/archive/bases.ts'
import { listAllBases, listChains, listSegments } from '../../src/store/archive/chain.ts'
import { openFolderStore } from '../../src/store/archive/folder-store.ts'
import type { ObjectStore } from '../../src/store/archive/object-store.ts'
import { restoreMoment } from '../../src/store/archive/restore-moment.ts'
import { readStatus } from '../../src/store/archive/archive-status.ts'
import { runDrill } from '../../src/store/archive/verify-backup.ts'
import { startEmbedded, type Embedded } from '../../src/store/embedded.ts'

const log = createLog('silent')
const PATIENCE = 120_000

let folder: string
let archive: string
let server: Embedded
let client: Client
let store: ObjectStore
let archiver: Archiver

const config = (over: object = {}) => ({
  DATA_DIR: join(folder, 'data'),
  BACKUP_RPO_SECONDS: 1,
  BACKUP_INTERVAL_HOURS: 24,
  BACKUP_KEPT_DAYS: 14,
  BACKUP_MAX_WAL_BYTES: 4_000_000_000,
  ...over,
})

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-archive-'))
  chmodSync(folder, 0o755)
  archive = join(folder, 'archive')
  mkdirSync(archive)
  store = openFolderStore(archive)
  server = await startEmbedded({ dataDir: join(folder, 'data'), log })
  client = new Client({ connectionString: server.url })
  await client.connect()
  await client.query('create table event (n int primary key, text text)')
  archiver = startArchiver({ server, store, config: config(), log })
})
afterAll(async () => {
  await archiver.stop()
  await client.end()
  await server.stop()
  rmSync(folder, { recursive: true })
})

let written = 0
/** Writes rows in a transaction each. @returns the time of the database afterwards */
async function write(count: number): Promise<Date> {
  for (let n = 0; n < count; n++)
    await client.query('insert into event values ($1, $2)', [++written, 'x'.repeat(100)])
  const { rows } = await client.query<{ now: Date }>(
    `select date_trunc('milliseconds', clock_timestamp()) + '1 millisecond' as now, pg_sleep(0.002)`,
  )
  return rows[0]?.now ?? new Date(NaN)
}

async function switchSegment(): Promise<void> {
  const administrator = new Client({ connectionString: server.adminUrl })
  await administrator.connect()
  await administrator.query('select pg_switch_wal()')
  await administrator.end()
}

/** Waits until everything before this moment is in the archive. */
async function archivedUntil(moment: Date): Promise<void> {
  await expect
    .poll(() => archiver.status().archivedUntil ?? '', { timeout: 60_000 })
    .satisfy((until: string) => until > moment.toISOString())
}

async function rowsIn(dataDir: string): Promise<number[]> {
  const restored = await startEmbedded({ dataDir, log })
  const reader = new Client({ connectionString: restored.url })
  await reader.connect()
  const { rows } = await reader.query<{ n: number }>('select n from event order by n')
  await reader.end()
  await restored.stop()
  return rows.map(({ n }) => n)
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1)

describe('the archive', { timeout: PATIENCE }, () => {
  it('restores exactly what was committed until a moment, also before a table was dropped', async () => {
    await archivedUntil(await write(10))
    const early = await write(10)
    const atEarly = written
    await write(10)
    const late = await write(0)
    await client.query('alter table event rename to lost')
    await client.query('create table event as select * from lost')
    await client.query('drop table lost')
    await archivedUntil(await write(5))

    const restore = async (at: Date | null, name: string) => {
      const dataDir = join(folder, name)
      const result = await restoreMoment({ dataDir, store, at, log })
      return { ...result, rows: await rowsIn(dataDir) }
    }
    const first = await restore(early, 'early')
    expect(first.rows).toEqual(upTo(atEarly))
    expect(first.isShort).toBe(false)
    expect(first.reached?.getTime()).toBeLessThanOrEqual(early.getTime())
    expect((await restore(late, 'late')).rows).toEqual(upTo(30))
    expect((await restore(null, 'newest')).rows).toEqual(upTo(written))
    await expect(restore(null, 'newest')).rejects.toMatchObject({ code: 'conflict' })
    await expect(restore(new Date('2020-01-01'), 'never')).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('The first moment') as string,
    })
    const beyond = await restore(new Date(Date.now() + 3_600_000), 'beyond')
    expect([beyond.isShort, beyond.rows.length]).toEqual([true, written])
  })

  it('proves in a drill that it can be restored, and finds damage', async () => {
    await archivedUntil(await write(1))
    const drill = await runDrill(store, { above: folder, log })
    expect(drill).toMatchObject({ problems: [], tables: expect.any(Number) as number })
    expect(drill.rpoSeconds).toBeLessThan(60)
    const [chain = ''] = await listChains(store)
    const names = await listSegments(store, chain)
    const middle = join(archive, chain, 'wal', `${names.at(-2)}.zst`)
    const whole = readFileSync(middle)
    const damaged = Buffer.from(whole)
    damaged.fill(0xff, damaged.length >> 1, (damaged.length >> 1) + 8)
    writeFileSync(middle, damaged)
    await expect(runDrill(store, { above: folder, log })).rejects.toThrow()
    rmSync(middle)
    expect((await runDrill(store, { above: folder, log })).problems).toEqual([
      `The archive lacks the WAL segment ${names.at(-2)}.`,
    ])
    writeFileSync(middle, whole)
  })

  it('catches up after it was unavailable, and tells so meanwhile', async () => {
    renameSync(archive, `${archive}.away`)
    const moment = await write(20)
    await expect
      .poll(() => readStatus(join(folder, 'data'))?.problem, { timeout: 20_000 })
      .toContain('Mount the disk')
    expect(archiver.status().pendingBytes).toBeGreaterThan(0)
    renameSync(`${archive}.away`, archive)
    await archivedUntil(moment)
    expect(archiver.status()).toMatchObject({ problem: null, failingSince: null })
    expect(await listChains(store)).toHaveLength(1)
  })

  it('continues its chain after a restart, with what was committed before the stop', async () => {
    // A segment that ended a moment before, as after a base backup, and the one that follows it.
    await write(3)
    await switchSegment()
    await write(3)
    await archiver.stop()
    const dataDir = join(folder, 'stopped')
    await restoreMoment({ dataDir, store, at: null, log })
    expect(await rowsIn(dataDir)).toEqual(upTo(written))
    archiver = startArchiver({ server, store, config: config(), log })
    await archivedUntil(await write(1))
    expect(await listChains(store)).toHaveLength(1)
    expect(await listAllBases(store)).toHaveLength(1)
  })

  it('never overwrites a segment of a copy: it begins a new chain with a new base backup', async () => {
    const [chain = ''] = await listChains(store)
    const newest = (await listSegments(store, chain)).at(-1) ?? ''
    const next = (BigInt(`0x${newest}`) + 1n).toString(16).toUpperCase().padStart(24, '0')
    const foreign = join(archive, chain, 'wal', `${next}.zst`)
    writeFileSync(foreign, readFileSync(join(archive, chain, 'wal', `${newest}.zst`)))
    const before = readFileSync(foreign)
    const moment = await write(5)
    await expect.poll(() => listChains(store), { timeout: 30_000 }).toHaveLength(2)
    await archivedUntil(moment)
    expect(readFileSync(foreign)).toEqual(before)
    const dataDir = join(folder, 'second')
    await restoreMoment({ dataDir, store, at: null, log })
    expect(await rowsIn(dataDir)).toEqual(upTo(written))
  })

  it('lets PostgreSQL remove WAL beyond the limit rather than fill the disk, and begins again', async () => {
    await archiver.stop()
    renameSync(archive, `${archive}.away`)
    archiver = startArchiver({
      server,
      store,
      config: config({ BACKUP_MAX_WAL_BYTES: 32 << 20 }),
      log,
    })
    const admin = new Client({ connectionString: server.adminUrl })
    await admin.connect()
    const status = async () =>
      (await admin.query<{ wal_status: string }>('select wal_status from pg_replication_slots'))
        .rows[0]?.wal_status
    await expect
      .poll(
        async () => {
          await client.query('select pg_logical_emit_message(false, $1, $2)', [
            'filler',
            'x'.repeat(8 << 20),
          ])
          await admin.query('select pg_switch_wal()')
          await admin.query('checkpoint')
          return status()
        },
        { timeout: 60_000 },
      )
      .toBe('lost')
    await admin.end()
    const moment = await write(5)
    renameSync(`${archive}.away`, archive)
    await archivedUntil(moment)
    expect(await listChains(store)).toHaveLength(3)
  })
})

describe('retention', () => {
  it('keeps every moment of the last days, the newest base backup, and the WAL that they need', async () => {
    const root = join(folder, 'retention')
    mkdirSync(root)
    const kept = openFolderStore(root)
    const now = new Date('2026-11-26T12:00:00Z')
    const chains = [
      '20261101_000000_aaaaaaaa',
      '20261110_000000_bbbbbbbb',
      '20261120_000000_cccccccc',
    ]
    const segment = (n: number) => n.toString(16).padStart(24, '0').toUpperCase()
    for (const [index, chain] of chains.entries()) {
      await kept.create(`${chain}/chain.json`, Buffer.from('{}'))
      for (let n = 0; n < 6; n++)
        await kept.create(`${chain}/wal/${segment(n)}.zst`, Buffer.from('x'))
      for (const n of [0, 1, 2]) {
        const day = String(1 + index * 9 + n * 2).padStart(2, '0')
        const finishedAt = `2026-11-${day}T00:00:00.000Z`
        const base = { format: 1, id: `202611${day}_000000`, finishedAt, startWal: segment(n * 2) }
        await kept.create(`${chain}/base/${base.id}.tar.gz`, Buffer.from('x'))
        await kept.create(`${chain}/base/${base.id}.json`, Buffer.from(JSON.stringify(base)))
      }
    }
    await kept.create(`${chains[2]}/base/20261101_000000.tar.gz`, Buffer.from('incomplete'))
    const today = `${chains[2]}/base/20261126_110000.tar.gz`
    await kept.create(today, Buffer.from('in progress'))
    // Base backups of 1, 3, 5, then 10, 12, 14, then 19, 21, 23 November; 13 days ago is the 13th.
    expect(await expire(kept, chains[2] ?? '', 13, now)).toEqual({ bases: 4, segments: 8 })
    const left = (await listAllBases(kept)).map(({ finishedAt }) => finishedAt.slice(8, 10))
    expect(left).toEqual(['12', '14', '19', '21', '23'])
    expect(await listChains(kept)).toEqual(chains.slice(1))
    expect(await listSegments(kept, chains[1] ?? '')).toEqual([2, 3, 4, 5].map(segment))
    expect((await kept.list(`${chains[2]}/base/`)).map(({ key }) => key)).toContain(today)
    const muchLater = new Date('2027-11-26T12:00:00Z')
    await expire(kept, chains[2] ?? '', 13, muchLater)
    expect((await listAllBases(kept)).map(({ finishedAt }) => finishedAt.slice(8, 10))).toEqual([
      '23',
    ])
  })
})
