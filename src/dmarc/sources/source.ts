import { Fault } from '../../errors.ts'
import { isAligned } from '../../protocols/reports/aggregate-report.ts'
import { addressOf } from '../../protocols/reports/report-values.ts'
import type { Db } from '../../store/database.ts'
import type { DomainRow } from '../domains/store.ts'
import { SOURCE_RECORDS } from '../limits.ts'
import { shownRecord } from '../reports/shown.ts'
import { everyDay, shownSource, type FindAsn } from '../summary/summary.ts'
import type { Range } from '../summary/store.ts'
import { adviseOn } from './advice.ts'
import { identitiesOf } from './identities.ts'
import { findSource, listRecordsOf, sumSourceByDay, type RecordFilter, type SeenRecord } from './store.ts'

/**
 * An address as reports write it.
 * @throws Fault `invalid_request`
 */
export function sourceAddress(text: string): string {
  const address = addressOf(text)
  if (address !== null) return address
  const message = 'must be an IPv4 or IPv6 address'
  throw new Fault('invalid_request', `address ${message}.`, { details: [{ path: 'address', message }] })
}

/** What one address sends in the domain's name: how much, in whose names, how it fares, and what to do about it. */
export async function describeSource(db: Db, domain: DomainRow, address: string, range: Range, findAsn: FindAsn) {
  const [source, days] = await Promise.all([
    findSource(db, domain.id, address, range),
    sumSourceByDay(db, domain.id, address, range),
  ])
  const wanted = { ...wantedOf(domain, address, days), filter: {} }
  const { records, total } = await listRecordsOf(db, wanted, { limit: SOURCE_RECORDS, offset: 0 })
  const all = identitiesOf(records, domain.domain)
  const failed = identitiesOf(
    records.filter((record) => !isAligned(record)),
    domain.domain,
  )
  return {
    domain: domain.domain,
    ...range,
    source: source ? shownSource(source, findAsn) : null,
    days: everyDay(range, days),
    identities: { ...all, records: records.length, recordCount: total },
    advice: adviseOn(domain.domain, address, source, { all, failed }),
  }
}

type PageOf = { limit: number; offset: number }

/** The records that speak of an address, the newest first. */
export async function recordsOfSource(
  db: Db,
  domain: DomainRow,
  { address, range, filter }: { address: string; range: Range; filter: RecordFilter },
  page: PageOf,
) {
  const days = await sumSourceByDay(db, domain.id, address, range)
  const { records, total } = await listRecordsOf(db, { ...wantedOf(domain, address, days), filter }, page)
  return { records: records.map((record) => shown(record, domain.domain)), total }
}

function wantedOf({ id, domain }: DomainRow, address: string, days: { day: string }[]) {
  return { domainId: id, domain, address, days: days.map(({ day }) => day) }
}

function shown({ report: { id, orgName, begin, end }, ...record }: SeenRecord, domain: string) {
  return {
    ...shownRecord(record, domain),
    report: { id, orgName, dateRange: { begin: new Date(begin), end: new Date(end) } },
  }
}
