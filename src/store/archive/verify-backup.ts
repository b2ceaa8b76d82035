import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { DATABASE, end } from '../embedded/launch.ts'
import { chooseBase } from './chain.ts'
import type { ObjectStore } from './object-store.ts'
import { recover } from './recover.ts'

/** The result of a restore drill. */
export type Drill = {
  archive: string
  base: { takenAt: string; bytes: number }
  segments: number
  /** The time of the last transaction in the archive. */
  reached: string
  /** Seconds since then: what a disaster now would lose. */
  rpoSeconds: number
  /** Seconds of each part. Unpacking and replaying together are the RTO of the database. */
  seconds: { unpack: number; replay: number; check: number }
  databaseBytes: number
  tables: number
  indexes: number
  /** What is wrong; empty when the backup is good. */
  problems: string[]
}

/** The most problems that are reported. */
const MAX_PROBLEMS = 20

/**
 * Restores the newest moment to a temporary folder, starts PostgreSQL there, and checks every table
 * and index.
 * @param above the folder in which the temporary one is made
 * @throws Fault when nothing can be restored
 */
export async function runDrill(
  store: ObjectStore,
  { above, log }: { above: string; log: Logger },
): Promise<Drill> {
  const place = mkdtempSync(join(above, 'portreeve-drill-'))
  try {
    // PostgreSQL does not run as root, and enters this folder as another user.
    chmodSync(place, 0o755)
    const base = await chooseBase(store, null)
    const { run, site, reached, gap, segments, seconds } = await recover({
      store,
      base,
      at: null,
      folder: join(place, 'postgres'),
      log,
    })
    try {
      const newest = reached ?? new Date(base.finishedAt)
      const rpoSeconds = (Date.now() - newest.getTime()) / 1000
      const begun = performance.now()
      const { problems, ...facts } = await checkDatabase(site.address.url('postgres', DATABASE))
      const missing = gap === null ? [] : [`The archive lacks the WAL segment ${gap}.`]
      return {
        archive: store.name,
        base: { takenAt: base.finishedAt, bytes: base.bytes },
        segments,
        reached: newest.toISOString(),
        rpoSeconds,
        seconds: { ...seconds, check: (performance.now() - begun) / 1000 },
        ...facts,
        problems: [...missing, ...problems],
      }
    } finally {
      await end(run)
    }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

type Checked = Pick<Drill, 'databaseBytes' | 'tables' | 'indexes' | 'problems'>

/** Checks every page, row and index entry with PostgreSQL’s amcheck. */
async function checkDatabase(url: string): Promise<Checked> {
  const client = new Client({ connectionString: url, application_name: 'portreeve backup verify' })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('create extension if not exists amcheck')
    const tables = await relationsOf(client, 'heap', ['r', 'm'])
    const trees = await relationsOf(client, 'btree', ['i'])
    const inverted = await relationsOf(client, 'gin', ['i'])
    const problems: string[] = []
    for (const id of tables) problems.push(...(await checkTable(client, id)))
    for (const id of trees)
      problems.push(...(await checkIndex(client, 'bt_index_check($1, true)', id)))
    for (const id of inverted)
      problems.push(...(await checkIndex(client, 'gin_index_check($1)', id)))
    const { rows } = await client.query<{ bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    )
    return {
      databaseBytes: Number(rows[0]?.bytes),
      tables: tables.length,
      indexes: trees.length + inverted.length,
      problems: problems.slice(0, MAX_PROBLEMS),
    }
  } finally {
    await client.end()
  }
}

/** Names of the valid tables or indexes with an access method. */
async function relationsOf(client: Client, method: string, kinds: string[]): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `select c.oid::regclass::text as id
       from pg_class c
       join pg_am a on a.oid = c.relam
       left join pg_index i on i.indexrelid = c.oid
      where a.amname = $1 and c.relkind::text = any($2) and c.relpersistence = 'p'
        and coalesce(i.indisvalid, true)
      order by c.oid`,
    [method, kinds],
  )
  return rows.map(({ id }) => id)
}

async function checkTable(client: Client, id: string): Promise<string[]> {
  try {
    const { rows } = await client.query<{ msg: string }>(
      'select msg from verify_heapam($1, check_toast => true) limit $2',
      [id, MAX_PROBLEMS],
    )
    return rows.map(({ msg }) => `${id}: ${msg}`)
  } catch (error) {
    return [`${id}: ${messageOf(error)}`]
  }
}

async function checkIndex(client: Client, check: string, id: string): Promise<string[]> {
  try {
    await client.query(`select ${check}`, [id])
    return []
  } catch (error) {
    return [`${id}: ${messageOf(error)}`]
  }
}
