// Storing aggregate reports beside the bare XML parser on the same bytes, and the summary of a
// domain with a million records.
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { SaxesParser } from 'saxes'
import { createAccount } from '../../src/accounts/accounts.ts'
import { registerDomain } from '../../src/dmarc/domains/domains.ts'
import type { DomainRow } from '../../src/dmarc/domains/dmarc-domains.sql.ts'
import { ingest, type GivenFile } from '../../src/dmarc/intake/ingest.ts'
import { parseRange } from '../../src/dmarc/summary/range.ts'
import { summarize } from '../../src/dmarc/summary/summary.ts'
import { createLog } from '../../src/log.ts'
import { startEmbedded } from '../../src/store/embedded.ts'
import type { Database } from '../../src/store/database.ts'
import { openMigrated } from '../../src/store/migrate-schema.ts'
import type { DB } from '../../src/store/tables.ts'
import { aggregate, daysAgo, type Row } from '../../test/dmarc/reports.ts'
import { listProcesses } from '../process-usage.ts'

const REPORTS = 5_000
const RECORDS = 20
const SINGLE = 500
const SOURCES = 20_000
const SUMMARIES = 15

/** Takes a minute. Returns the printed tables. */
export async function run(): Promise<string> {
  dataDir = mkdtempSync(join(tmpdir(), 'portreeve-bench-'))
  const embedded = await startEmbedded({ dataDir, log: createLog('silent') })
  const database = await openMigrated(embedded.url)
  const { db, close } = database
  try {
    const person = {
      email: 'bench@people.test',
      password: 'a long enough password',
      plan: 'pro' as const,
    }
    const { id } = await createAccount(db, person)
    return [await storeMany(db, id), await summarizeMillion(database, id)].join('\n\n')
  } finally {
    await close()
    await embedded.stop()
    rmSync(dataDir, { recursive: true })
  }
}

async function storeMany(db: Kysely<DB>, workspaceId: string): Promise<string> {
  const rows: { label: string; spent: Spent }[] = []
  const { domain } = await registerDomain(db, workspaceId, 'many.test')
  const reports = Array.from({ length: 2 * REPORTS + SINGLE }, (_, n) =>
    aggregate(specOf(n, RECORDS, domain)),
  )
  const files = reports.map((xml, n) => ({ name: `${n}.xml`, bytes: Buffer.from(xml) }))
  const packed = files
    .slice(REPORTS)
    .map(({ name, bytes }) => ({ name: `${name}.gz`, bytes: gzipSync(bytes) }))
  const add = async (label: string, count: number, work: () => Promise<void>) =>
    rows.push({ label, spent: await spend(count, work) })
  await add('bare saxes on the XML, nothing kept', REPORTS, async () =>
    files.slice(0, REPORTS).forEach(parseBare),
  )
  await add('parsed and stored, in batches', REPORTS, () =>
    take(db, workspaceId, files.slice(0, REPORTS)),
  )
  await add('the same from gzip', REPORTS, () => take(db, workspaceId, packed.slice(0, REPORTS)))
  await add('from gzip, each committed by itself', SINGLE, async () => {
    for (const file of packed.slice(REPORTS)) await take(db, workspaceId, [file])
  })
  const [bare] = rows
  return [
    `| ${REPORTS.toLocaleString('en-US')} reports of ${RECORDS} records | reports/s of processor time | of bare | ms in PostgreSQL, each | reports/s by the clock |`,
    '| --- | --- | --- | --- | --- |',
    ...rows.map(({ label, spent: { own, store, clock } }) => {
      const share = ((bare?.spent.own ?? 0) / own).toFixed(2)
      return `| ${label} | ${Math.round(1_000 / own)} | ${share} | ${store.toFixed(2)} | ${Math.round(1_000 / clock)} |`
    }),
  ].join('\n')
}

/** Milliseconds for one report: of processor time here and in PostgreSQL, and by the clock. */
type Spent = { own: number; store: number; clock: number }

/** Measures processor time, because wall-clock time on a busy machine measures the other work. */
async function spend(count: number, work: () => Promise<void>): Promise<Spent> {
  const [before, storeBefore, started] = [process.cpuUsage(), postgresMs(), performance.now()]
  await work()
  const { user, system } = process.cpuUsage(before)
  const [store, clock] = [postgresMs() - storeBefore, performance.now() - started]
  return { own: (user + system) / 1_000 / count, store: store / count, clock: clock / count }
}

let dataDir = ''

/** What our PostgreSQL has used so far, all its processes; they run in its folder. */
function postgresMs(): number {
  const seconds = listProcesses()
    .filter(({ pid }) => folderOf(pid).startsWith(dataDir))
    .map((used) => used.seconds)
  return seconds.reduce((sum, one) => sum + one, 0) * 1_000
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    // The process has ended.
    return ''
  }
}

async function summarizeMillion({ db, pool }: Database, workspaceId: string): Promise<string> {
  const domain = await registerDomain(db, workspaceId, 'million.test')
  const rows = await seedMillion(pool, domain.id)
  const lines = []
  for (const days of [30, 90, 365])
    lines.push(`| ${days} days | ${await summaryMs(db, domain, days)} |`)
  return [
    `1,000,000 records over 365 days, of ${SOURCES.toLocaleString('en-US')} sources: ${rows.toLocaleString('en-US')} rows of a day and a source.`,
    '',
    '| summary of | ms, median |',
    '| --- | --- |',
    ...lines,
  ].join('\n')
}

/**
 * Fills the daily tables as a million records would; the same as `rowOf` makes, without the XML.
 */
async function seedMillion(pool: Pool, domainId: string): Promise<number> {
  const counts = `messages, aligned, dkim, spf, forwarded, quarantined, rejected`
  const sums = `sum(m), sum(m) filter (where s % 10 <> 3), sum(m) filter (where s % 10 <> 3), sum(m) filter (where s % 3 <> 0), 0, 0, 0`
  const records = `
    select current_date - 1 - n % 365 as day, s, 1 + n % 50 as m, 'reporter' || n % 25 || '.test' as reporter,
      ('10.' || (s >> 16) || '.' || ((s >> 8) & 255) || '.' || (s & 255))::inet as source
    from (select n, floor(power((n::bigint * 7919 % 104729) / 104729.0, 3) * ${SOURCES})::int as s
      from generate_series(0, 999999) as n) as numbered`
  const { rowCount } = await pool.query(
    `insert into dmarc_source_day (domain_id, day, source, ${counts})
     select $1, day, source, ${sums.replaceAll(/sum\(m\)( filter \(.*?\))?/g, 'coalesce($&, 0)')} from (${records}) as r group by day, source
     order by day, source`,
    [domainId],
  )
  await pool.query(
    `insert into dmarc_source_month (domain_id, month, source, first_day, last_day, ${counts})
     select domain_id, date_trunc('month', day), source, min(day), max(day), ${counts.replaceAll(/\w+/g, 'sum($&)')}
     from dmarc_source_day where domain_id = $1 group by domain_id, date_trunc('month', day), source`,
    [domainId],
  )
  await pool.query(
    `insert into dmarc_reporter_day (domain_id, day, reporter, reports, ${counts})
     select $1, day, reporter, 1, ${sums} from (${records}) as r group by day, reporter`,
    [domainId],
  )
  await pool.query('vacuum analyze')
  return rowCount ?? 0
}

async function summaryMs(db: Kysely<DB>, domain: DomainRow, days: number): Promise<number> {
  const range = parseRange(
    { from: new Date((daysAgo(days) + 86_400) * 1_000).toISOString().slice(0, 10) },
    new Date(),
  )
  const times: number[] = []
  for (let round = 0; round < SUMMARIES; round++) {
    const started = performance.now()
    const { totals } = await summarize(db, domain, range, () => null)
    times.push(performance.now() - started)
    if (totals.messages === 0) throw new Error('the summary is empty')
  }
  return Math.round(times.toSorted((a, b) => a - b)[Math.floor(SUMMARIES / 2)] ?? 0)
}

function specOf(n: number, records: number, domain: string) {
  const rows = Array.from({ length: records }, (_, m) => rowOf(n * records + m))
  return {
    domain,
    id: `${domain}-${n}`,
    org: `reporter${n % 25}.test`,
    begin: daysAgo(1 + (n % 365)),
    rows,
  }
}

/** A few sources send most of the mail, as in practice. */
function rowOf(n: number): Row {
  const spread = ((n * 7_919) % 104_729) / 104_729
  const source = Math.floor(spread ** 3 * SOURCES)
  const fails = source % 10 === 3
  return {
    ip: `10.${source >> 16}.${(source >> 8) & 255}.${source & 255}`,
    count: 1 + (n % 50),
    dkim: fails ? 'fail' : 'pass',
    spf: source % 3 === 0 ? 'fail' : 'pass',
    selector: `s${n % 4}`,
  }
}

async function take(
  db: Kysely<DB>,
  workspaceId: string,
  files: Iterable<GivenFile> & { length?: number },
  expected = files.length,
): Promise<void> {
  const { stored, rejected } = await ingest(db, { via: 'import', workspaceId }, files)
  if (stored !== expected) throw new Error(`${stored} stored: ${rejected[0]?.reason}`)
}

const EVENTS = ['opentag', 'closetag', 'text', 'cdata', 'attribute', 'doctype', 'error'] as const

function parseBare({ bytes }: GivenFile): void {
  const parser = new SaxesParser({ position: false })
  for (const event of EVENTS) parser.on(event, () => {})
  parser.write(Buffer.from(bytes).toString()).close()
}
