import { isAligned, type AggregateRecord } from '../../protocols/reports/aggregate-report.ts'
import type { Authentication } from '../../protocols/mail/mail-authentication.ts'
import { isWithin } from '../statistics/tally.ts'
import type { ReportRow, TlsReportRow } from './dmarc-reports.sql.ts'

/** A report as the API returns it, with the first part of its records. */
export function presentReport(row: ReportRow, domain: string) {
  const {
    id,
    reportId,
    orgName,
    recordCount,
    messages,
    aligned,
    outside,
    detail,
    via,
    authentication,
    receivedAt,
  } = row
  const { disposition, ...rest } = detail
  return {
    id,
    reportId,
    orgName,
    ...rest,
    dateRange: { begin: row.beginsAt, end: row.endsAt },
    records: row.records.map((record) => presentRecord(record, domain)),
    recordCount,
    totals: { messages, pass: aligned, fail: messages - aligned, outside, disposition },
    via,
    authentication,
    reporterVerified: isReporterVerified(authentication),
    receivedAt,
  }
}

export function presentRecord(record: AggregateRecord, domain: string) {
  const { headerFrom } = record.identifiers
  return {
    ...record,
    result: isAligned(record) ? 'pass' : 'fail',
    outside: !isWithin(headerFrom, domain),
  }
}

export function presentTlsReport({ beginsAt, endsAt, successful, failed, ...row }: TlsReportRow) {
  return { ...row, dateRange: { begin: beginsAt, end: endsAt }, totals: { successful, failed } }
}

/** Null where it is not known: without results, or when the DNS did not answer. */
export function isReporterVerified(authentication: Authentication | null): boolean | null {
  if (!authentication || authentication.dmarc.result === 'temperror') return null
  return authentication.dmarc.result === 'pass'
}
