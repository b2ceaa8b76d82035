import { invalidField } from '../../errors.ts'
import { isAligned } from '../../protocols/reports/aggregate-report.ts'
import { addressOf } from '../../protocols/reports/report-values.ts'
import type { Db } from '../../store/database.ts'
import type { DomainRow } from '../domains/dmarc-domains.sql.ts'
import { MAX_SOURCE_RECORDS } from '../limits.ts'
import { presentRecord } from '../reports/present-report.ts'
import { fillDays, presentSource, type FindAsn } from '../summary/summary.ts'
import type { DayRange } from '../summary/dmarc-summary.sql.ts'
import { adviseOnSource } from './source-advice.ts'
import { sumIdentities } from './identities.ts'
import {
  findSource,
  listSelectedRecords,
  sumSourceByDay,
  type RecordFilter,
  type SeenRecord,
} from './dmarc-sources.sql.ts'

/**
 * Normalizes an address to the form that reports use.
 * @throws Fault `invalid_request`
 */
export function parseSourceAddress(text: string): string {
  const address = addressOf(text)
  if (address !== null) return address
  const message = 'must be an IPv4 or IPv6 address'
  throw invalidField('address', message)
}

/** Describes one source: its counts, its identities and the recommended actions. */
export async function describeSource(
  db: Db,
  domain: DomainRow,
  address: string,
  range: DayRange,
  findAsn: FindAsn,
) {
  const [source, days] = await Promise.all([
    findSource(db, domain.id, address, range),
    sumSourceByDay(db, domain.id, address, range),
  ])
  const wanted = { ...wantedOf(domain, address, days), filter: {} }
  const { records, total } = await listSelectedRecords(db, wanted, {
    limit: MAX_SOURCE_RECORDS,
    offset: 0,
  })
  const all = sumIdentities(records, domain.domain)
  const failed = sumIdentities(
    records.filter((record) => !isAligned(record)),
    domain.domain,
  )
  return {
    domain: domain.domain,
    ...range,
    source: source ? presentSource(domain.domain, source, findAsn) : null,
    days: fillDays(range, days),
    identities: { ...all, records: records.length, recordCount: total },
    advice: adviseOnSource(domain.domain, address, source, { all, failed }),
  }
}

type PageOf = { limit: number; offset: number }

/** The records of a source, newest first. */
export async function listSourceRecords(
  db: Db,
  domain: DomainRow,
  { address, range, filter }: { address: string; range: DayRange; filter: RecordFilter },
  page: PageOf,
) {
  const days = await sumSourceByDay(db, domain.id, address, range)
  const { records, total } = await listSelectedRecords(
    db,
    { ...wantedOf(domain, address, days), filter },
    page,
  )
  return { records: records.map((record) => shown(record, domain.domain)), total }
}

function wantedOf({ id, domain }: DomainRow, address: string, days: { day: string }[]) {
  return { domainId: id, domain, address, days: days.map(({ day }) => day) }
}

function shown({ report: { id, orgName, begin, end }, ...record }: SeenRecord, domain: string) {
  return {
    ...presentRecord(record, domain),
    report: { id, orgName, dateRange: { begin: new Date(begin), end: new Date(end) } },
  }
}
