// Reading aggregate reports beside the bare XML parser on the same bytes, and one very large
// report.
import { execFile } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip } from 'node:zlib'
import { SaxesParser } from 'saxes'
import { openReports, readReport } from '../../src/protocols/reports/aggregate-report.ts'
import { isReport, unpack } from '../../src/protocols/reports/unpack.ts'
import type { Outcome } from '../../test/protocols/reports/read-report.ts'
import { readSample } from '../../test/protocols/reports/report-samples.ts'
import { attached, gzip, mailWith, manyRecords } from '../../test/protocols/reports/reports.ts'

const REPORTS = 1_000
const ROUNDS = 5
const LARGE = 100_000

/** Takes some 30 seconds. Returns the printed tables. */
export async function run(): Promise<string> {
  return [await compare(), await readLarge()].join('\n\n')
}

type Column = {
  label: string
  read: (report: Report) => Promise<number> | number
  seconds: number[]
}
type Report = { xml: Buffer; packed: Buffer; mail: Buffer }

/** Twenty records each, as Google sends them, in turn and each with another id. */
async function compare(): Promise<string> {
  const reports = Array.from({ length: REPORTS }, (_, n) => reportNumber(n))
  const columns: Column[] = [
    { label: 'bare saxes, handlers that do nothing', read: ({ xml }) => bare(xml), seconds: [] },
    { label: 'parsed', read: ({ xml }) => parse(xml), seconds: [] },
    {
      label: 'unpacked from gzip and parsed',
      read: ({ packed }) => unpackAndParse(packed),
      seconds: [],
    },
    {
      label: 'unpacked from gzip in a mail and parsed',
      read: ({ mail }) => unpackAndParse(mail),
      seconds: [],
    },
  ]
  for (let round = 0; round <= ROUNDS; round++) {
    for (const column of columns) {
      const seconds = await time(column, reports)
      if (round > 0) column.seconds.push(seconds)
    }
  }
  const bytes = reports.reduce((sum, { xml }) => sum + xml.length, 0)
  return table(columns, bytes)
}

function reportNumber(n: number): Report {
  const xml = Buffer.from(
    readSample('google-20-records.xml').toString().replace('11038226378739404135', String(n)),
  )
  const packed = gzip(xml)
  return { xml, packed, mail: mailWith([attached(packed)]) }
}

/** Measures processor time in seconds, because other work on the machine hardly affects it. */
async function time({ label, read }: Column, reports: Report[]): Promise<number> {
  const started = process.cpuUsage()
  let records = 0
  for (const report of reports) records += await read(report)
  if (records !== 20 * REPORTS) throw new Error(`${label}: ${records} records`)
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1e6
}

const EVENTS = ['opentag', 'closetag', 'text', 'cdata', 'attribute', 'doctype', 'error'] as const

/** The minimum. It counts the records, so that it cannot be fast by skipping work. */
function bare(xml: Buffer): number {
  const parser = new SaxesParser({ position: false })
  let records = 0
  for (const event of EVENTS) parser.on(event, () => {})
  parser.on('closetag', ({ name }) => void (name === 'record' && records++))
  parser.write(xml.toString()).close()
  return records
}

async function parse(xml: Buffer | AsyncIterable<Uint8Array>): Promise<number> {
  return (await readReport(openReports(xml)))?.recordCount ?? 0
}

async function unpackAndParse(bytes: Buffer): Promise<number> {
  for await (const item of unpack(bytes)) if (isReport(item)) return parse(item.open())
  return 0
}

function table(columns: Column[], bytes: number): string {
  const [base] = columns
  const lines = columns.map(({ label, seconds }) => {
    const middle = median(seconds)
    const ratio = median(seconds.map((own, round) => (base?.seconds[round] ?? 0) / own))
    const speed = [REPORTS / middle, bytes / 1e6 / middle].map((value) =>
      Math.round(value).toLocaleString('en'),
    )
    return `| ${label} | ${speed.join(' | ')} | ${ratio.toFixed(2)} |`
  })
  return [
    `| ${REPORTS} reports of 20 records | reports/s | MB/s of XML | speed of bare |`,
    '| --- | --- | --- | --- |',
    ...lines,
  ].join('\n')
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

/**
 * Runs in a separate process to measure its memory, reading gzip from disk, as a report of that
 * size arrives.
 */
async function readLarge(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-bench-'))
  const file = join(folder, 'large.xml.gz')
  try {
    await pipeline(
      Readable.from(manyRecords(LARGE)),
      createGzip({ level: 1 }),
      createWriteStream(file),
    )
    const script = join(import.meta.dirname, '../../test/protocols/reports/read-report.ts')
    const runs: Outcome[] = []
    for (let n = 0; n < 3; n++) {
      const { stdout } = await promisify(execFile)(process.execPath, [script, file])
      runs.push(JSON.parse(stdout) as Outcome)
    }
    const seconds = median(runs.map(({ milliseconds }) => milliseconds)) / 1_000
    const processor = median(runs.map(({ cpuMilliseconds }) => cpuMilliseconds)) / 1_000
    const memory = Math.max(...runs.map(({ maxRss }) => maxRss)) / 1e6
    return `one report, ${runs[0]?.outcomes.join()}: ${seconds.toFixed(1)} s (${processor.toFixed(1)} s of processor time), at most ${Math.round(memory)} MB`
  } finally {
    rmSync(folder, { recursive: true })
  }
}
