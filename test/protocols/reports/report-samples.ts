import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  openReports,
  readReport,
  type AggregateRecord,
  type AggregateReport,
} from '../../../src/protocols/reports/aggregate-report.ts'
import { openTlsReports, type TlsReport } from '../../../src/protocols/reports/tls-report.ts'
import {
  isReport,
  unpack,
  type FoundReport,
  type NoReport,
} from '../../../src/protocols/reports/unpack.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/dmarc')

/** The entry of one file in the index. Times are Unix seconds as text, values as in the file. */
export type Sample = { file: string; special: string; expected: Expected }
type Expected = {
  kind: string
  report_id: string
  mail_from?: string
  subject?: string
  container?: string
}
export type ExpectedAggregate = Expected & {
  org_name: string | null
  email: string
  namespace: string | null
  version: string | null
  domain: string
  begin: string
  end: string
  policy_published: Record<string, string>
  record_count: number
  message_count: number
  dmarc_pass_messages: number
  records?: {
    source_ip: string | null
    count: number
    disposition: string
    dkim: string
    spf: string
    header_from: string
  }[]
}
export type ExpectedTls = Expected & {
  organization_name: string
  contact_info: string
  start: string
  end: string
  policies: {
    type: string
    domain: string
    success: number
    failure: number
    failure_details: number
  }[]
}

/**
 * Reports as they were sent, from public collections; their index names source, licence and
 * content.
 */
export function samples(kind: string): Sample[] {
  const index = JSON.parse(readSample('index.json').toString()) as { files: Sample[] }
  return index.files.filter(({ expected }) => expected.kind.startsWith(kind))
}

export function readSample(file: string): Buffer {
  return readFileSync(join(FOLDER, file))
}

export async function unpackAll(bytes: Uint8Array, options: Parameters<typeof unpack>[1] = {}) {
  const reports: FoundReport[] = []
  const others: NoReport[] = []
  for await (const item of unpack(bytes, options)) {
    if (isReport(item)) reports.push(item)
    else others.push(item)
  }
  return {
    reports,
    others,
    kinds: reports.map(({ kind }) => kind),
    reasons: others.map(({ reason }) => reason),
  }
}

export type ReadReport = AggregateReport & { records: AggregateRecord[] }

export async function readAggregate(
  xml: Uint8Array | AsyncIterable<Uint8Array> | string,
): Promise<ReadReport> {
  const records: AggregateRecord[] = []
  const bytes = typeof xml === 'string' ? Buffer.from(xml) : xml
  const report = await readReport(openReports(bytes), (record) => void records.push(record))
  return { ...(report as AggregateReport), records }
}

/** The one report in a sample. */
export async function aggregateIn(file: string): Promise<ReadReport> {
  return readAggregate(await theOnly(file, 'aggregate'))
}

export async function parseTlsReport(
  json: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<TlsReport> {
  return (await openTlsReports(json).next()) as TlsReport
}

export async function tlsIn(file: string): Promise<TlsReport> {
  return parseTlsReport(await theOnly(file, 'tls'))
}

async function theOnly(file: string, kind: string): Promise<AsyncIterable<Uint8Array>> {
  const { reports, others } = await unpackAll(readSample(file), { name: file })
  const [report] = reports
  if (reports.length !== 1 || others.length > 0 || report?.kind !== kind) {
    throw new Error(`${file} gave ${JSON.stringify([reports, others])}`)
  }
  return report.open()
}
