import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { backUp, restore } from '../../src/store/backup.ts'
import { startEmbedded, type Embedded } from '../../src/store/embedded.ts'

const log = createLog('silent')
const PATIENCE = 60_000

let folder: string
let server: Embedded
let client: Client
const dataDir = () => join(folder, 'data')
const file = () => join(folder, 'portreeve.backup')

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-backup-'))
  chmodSync(folder, 0o755)
  server = await startEmbedded({ dataDir: dataDir(), log })
  client = new Client({ connectionString: server.url })
  await client.connect()
  await client.query('create table giver (n int); create table taker (n int)')
})
afterAll(async () => {
  await client.end()
  await server.stop()
  rmSync(folder, { recursive: true })
})

/** Moves rows from one table to another, in a transaction each, until stopped. */
async function writeUntil(stopped: () => boolean): Promise<number> {
  let moved = 0
  for (; !stopped(); moved++)
    await client.query(
      'begin; insert into giver values (1); insert into taker values (-1), (0); commit',
    )
  return moved
}

async function countIn(dir: string): Promise<{ giver: number; taker: number; sum: number }> {
  const restored = await startEmbedded({ dataDir: dir, log })
  const reader = new Client({ connectionString: restored.url })
  await reader.connect()
  const { rows } = await reader.query<{ giver: number; taker: number; sum: number }>(
    `select (select count(*)::int from giver) as giver, (select count(*)::int from taker) as taker,
            (select sum(n)::int from (select n from giver union all select n from taker) both_of_them) as sum`,
  )
  await reader.end()
  await restored.stop()
  return rows[0] ?? { giver: -1, taker: -1, sum: -1 }
}

describe('a backup', () => {
  it(
    'taken while others write holds whole transactions, and all that were committed before',
    { timeout: PATIENCE },
    async () => {
      let isDone = false
      await client.query('insert into giver select 1 from generate_series(1, 20000)')
      await client.query('insert into taker select -1 from generate_series(1, 20000)')
      const writing = writeUntil(() => isDone)
      const bytes = await backUp({ dataDir: dataDir(), log, file: file() })
      isDone = true
      const moved = await writing
      expect(statSync(file())).toMatchObject({ size: bytes, mode: 0o100600 })

      const elsewhere = join(folder, 'elsewhere')
      const takenAt = await restore({ dataDir: elsewhere, log, file: file() })
      expect(Date.now() - takenAt.getTime()).toBeLessThan(PATIENCE)
      const { giver, taker, sum } = await countIn(elsewhere)
      expect([sum, taker - 20_000]).toEqual([0, 2 * (giver - 20_000)])
      expect(giver).toBeGreaterThan(20_000)
      expect(giver).toBeLessThanOrEqual(20_000 + moved)
    },
  )

  it('is not restored over a database', async () => {
    await expect(restore({ dataDir: dataDir(), log, file: file() })).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  it('is not restored over one of an interrupted upgrade', async () => {
    const target = join(folder, 'upgraded')
    mkdirSync(join(target, 'postgres.upgraded'), { recursive: true })
    await expect(restore({ dataDir: target, log, file: file() })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('postgres.upgraded exists') as string,
    })
    expect(readdirSync(target)).toEqual(['postgres.lock', 'postgres.upgraded'])
  })

  it(
    'that is damaged, truncated or not a backup leaves nothing behind',
    { timeout: PATIENCE },
    async () => {
      const whole = readFileSync(file())
      const tar = gunzipSync(whole)
      const cutTar = gzipSync(tar.subarray(0, Math.floor(tar.length / 1024) * 512))
      const turned = Buffer.from(whole)
      turned.fill(0xff, whole.length >> 1, (whole.length >> 1) + 64)
      const bad = join(folder, 'bad.backup')
      const target = join(folder, 'nowhere')
      for (const bytes of [
        whole.subarray(0, whole.length >> 1),
        cutTar,
        turned,
        gzipSync('hello'),
        Buffer.from('hello'),
      ]) {
        writeFileSync(bad, bytes)
        await expect(restore({ dataDir: target, log, file: bad })).rejects.toMatchObject({
          code: 'invalid_request',
        })
        expect(readdirSync(target)).toEqual(['postgres.lock'])
      }
      await expect(
        restore({ dataDir: target, log, file: join(folder, 'none') }),
      ).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('ENOENT') as string,
      })
    },
  )

  it('that cannot be written fails with an error and leaves no partial file', async () => {
    const nowhere = join(folder, 'no', 'such', 'folder')
    await expect(backUp({ dataDir: dataDir(), log, file: nowhere })).rejects.toMatchObject({
      code: 'unavailable',
    })
    expect(existsSync(join(folder, 'no'))).toBe(false)
    expect(readdirSync(folder).filter((name) => name.includes('.part'))).toEqual([])
    const ours = () =>
      client.query("select from pg_stat_activity where application_name = 'portreeve backup'")
    await expect.poll(async () => (await ours()).rowCount).toBe(0)
  })
})
