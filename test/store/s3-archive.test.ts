import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '../../src/log.ts'
import { startArchiver } from '../../src/store/archive/archiver.ts'
import { listChains } from '../../src/store/archive/chain.ts'
import type { ObjectStore } from '../../src/store/archive/object-store.ts'
import { restoreMoment } from '../../src/store/archive/restore-moment.ts'
import { openS3Store } from '../../src/store/archive/s3-store.ts'
import { runDrill } from '../../src/store/archive/verify-backup.ts'
import { startEmbedded } from '../../src/store/embedded.ts'
import { freePort } from '../free-port.ts'
import { startS3, type S3Server } from '../servers/s3.ts'

const log = createLog('silent')

let folder: string
let s3: S3Server
let store: ObjectStore
let options: Parameters<typeof openS3Store>[0]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portreeve-s3-'))
  chmodSync(folder, 0o755)
  s3 = await startS3(join(folder, 'buckets'), 'backups')
  options = {
    bucket: 'backups',
    prefix: 'one',
    endpoint: s3.endpoint,
    region: 'us-east-1',
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
  }
  store = openS3Store(options)
})
afterAll(async () => {
  await s3.stop()
  rmSync(folder, { recursive: true })
})

describe('a bucket', () => {
  it('stores objects of any size, lists thousands, and never replaces one', async () => {
    expect(await store.create('a/one', Buffer.from('1'))).toBe(true)
    expect(await store.create('a/one', Buffer.from('2'))).toBe(false)
    expect(await text(await store.read('a/one'))).toBe('1')
    const large = randomBytes(40_000_000)
    const chunks = Array.from({ length: 40 }, (_, n) => large.subarray(n * 1e6, (n + 1) * 1e6))
    expect(await store.write('b/large', Readable.from(chunks))).toBe(large.length)
    expect((await buffer(await store.read('b/large'))).equals(large)).toBe(true)
    const keys = Array.from({ length: 1_005 }, (_, n) => `many/${String(n).padStart(4, '0')}`)
    await Promise.all(keys.map((key) => store.create(key, Buffer.from(key))))
    expect((await store.list('many/')).map(({ key }) => key)).toEqual(keys)
    expect(await store.listFolders()).toEqual(['a', 'b', 'many'])
    await store.remove([...keys, 'a/one', 'b/large'])
    expect(await store.list('')).toEqual([])
  })

  it('explains what is wrong without the secret', async () => {
    await expect(store.read('none')).rejects.toThrow(/s3:\/\/backups\/one refused a request/)
    const errors = [
      openS3Store({ ...options, accessKeyId: 'UNKNOWN', secretAccessKey: 'wrong-secret' }),
      openS3Store({ ...options, bucket: 'missing' }),
    ].map((wrong) =>
      wrong.create('x', Buffer.from('x')).then(
        () => 'stored',
        (error: Error) => error.message,
      ),
    )
    for (const message of await Promise.all(errors)) {
      expect(message).toMatch(/refused a request/)
      expect(message).not.toContain('wrong-secret')
    }
    const away = openS3Store({ ...options, endpoint: `http://127.0.0.1:${await freePort()}` })
    await expect(away.listFolders()).rejects.toThrow(/cannot be reached: .*ECONNREFUSED/)
  }, 30_000)

  it('has the archive of a database, from which a moment is restored', async () => {
    const dataDir = join(folder, 'data')
    const server = await startEmbedded({ dataDir, log })
    const client = new Client({ connectionString: server.url })
    await client.connect()
    await client.query('create table event (n int)')
    const config = {
      DATA_DIR: dataDir,
      BACKUP_RPO_SECONDS: 1,
      BACKUP_INTERVAL_HOURS: 24,
      BACKUP_KEPT_DAYS: 14,
      BACKUP_MAX_WAL_BYTES: 4_000_000_000,
    }
    const archiver = startArchiver({ server, store, config, log })
    await expect.poll(() => archiver.status().baseAt, { timeout: 30_000 }).not.toBeNull()
    await client.query('insert into event select generate_series(1, 100)')
    await client.end()
    await archiver.stop()
    await server.stop()
    expect(await listChains(store)).toHaveLength(1)
    expect((await runDrill(store, { above: folder, log })).problems).toEqual([])
    const elsewhere = join(folder, 'elsewhere')
    await restoreMoment({ dataDir: elsewhere, store, at: null, log })
    const restored = await startEmbedded({ dataDir: elsewhere, log })
    const reader = new Client({ connectionString: restored.url })
    await reader.connect()
    expect((await reader.query('select from event')).rowCount).toBe(100)
    await reader.end()
    await restored.stop()
  }, 90_000)
})
