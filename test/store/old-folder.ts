import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PgBoss } from 'pg-boss'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { findOlderBinaries } from '../../src/store/embedded/binaries.ts'
import { serverAddressOf } from '../../src/store/embedded/connection.ts'
import { DATABASE, end, launch, ROLE } from '../../src/store/embedded/launch.ts'
import { isRoot, spawnAs, unprivilegedUser } from '../../src/store/embedded/database-user.ts'
import { migrate } from '../../src/store/migrate-schema.ts'
import { fillEveryTable } from './old-rows.ts'

/**
 * Makes what an older Portreeve with PostgreSQL 15 left: `postgres` in `dataDir`, with a row in
 * every table, a job that waits, and `rows` captured requests of a kilobyte.
 */
export async function makeOldFolder(dataDir: string, rows: number): Promise<void> {
  const folder = join(dataDir, 'postgres')
  const user = isRoot() ? unprivilegedUser() : null
  const binaries = findOlderBinaries(15, `${folder}.lib`)
  mkdirSync(folder, { mode: 0o700 })
  if (user) chownSync(folder, user.uid, user.gid)
  chmodSync(dataDir, 0o755)
  const initdb = [
    join(binaries.bin, 'initdb'),
    '-D',
    folder,
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C',
    '-k',
    '-N',
  ]
  const [code] = await once(spawnAs(user, initdb, [folder], { stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`initdb ended with ${code}`)
  const address = serverAddressOf(folder, user)
  const run = await launch({ folder, binaries, user, address, log: createLog('silent') })
  try {
    await fill(address.url(ROLE, DATABASE), rows)
  } finally {
    await end(run)
  }
}

async function fill(url: string, rows: number): Promise<void> {
  const { pool, close } = openDatabase(url)
  await migrate(pool)
  await fillEveryTable(pool)
  await pool.query(
    `insert into webhook_request (id, endpoint_id, method, path, query, headers, ip, body, body_size, received_at,
       duration_ms, http_version, preflight, aborted)
     select gen_random_uuid(), (select id from webhook_endpoint), 'POST', '/' || n, '', '[["A","b\\tc"]]', '192.0.2.1',
       convert_to(repeat(md5(n::text), 32), 'UTF8'), 1024, now(), 1.5, '1.1', false, false
     from generate_series(1, $1::int) n`,
    [rows],
  )
  const boss = new PgBoss({ connectionString: url })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue('kept')
  await boss.send('kept', { still: 'to do' })
  await boss.stop({ graceful: false })
  await close()
}
