import { isSpfRefusal } from '../../protocols/reports/aggregate-record.ts'
import { isAligned, type AggregateRecord } from '../../protocols/reports/aggregate-report.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import { MAX_SPREAD_DAYS } from '../limits.ts'
import { DAY_MS, HOUR_MS, isoDay } from '../../time.ts'

/** Messages from one address with equal results. */
export type Tally = {
  source: string
  headerFrom: string | null
  dkim: boolean
  spf: boolean
  forwarded: boolean
  disposition: 'none' | 'quarantine' | 'reject'
  messages: number
}

export const COUNTS = [
  'messages',
  'aligned',
  'dkim',
  'spf',
  'forwarded',
  'quarantined',
  'rejected',
] as const

/** Message counts by result. `aligned` counts DKIM or SPF, `dkim` and `spf` each alone. */
export type Counts = Record<(typeof COUNTS)[number], number>

/** Sums the records of one report. */
export function createTallies() {
  const tallies = new Map<string, Tally>()
  return {
    add(record: AggregateRecord): void {
      const tally = tallyOf(record)
      const { source, headerFrom, dkim, spf, forwarded, disposition } = tally
      const key = `${source} ${headerFrom} ${dkim} ${spf} ${forwarded} ${disposition}`
      const known = tallies.get(key)
      if (known) known.messages += tally.messages
      else tallies.set(key, tally)
    },
    all: (): Tally[] => [...tallies.values()],
  }
}

function tallyOf(record: AggregateRecord): Tally {
  const { dkim, spf, disposition } = record.policyEvaluated
  return {
    source: record.sourceIp,
    headerFrom: record.identifiers.headerFrom,
    dkim: dkim === 'pass',
    spf: spf === 'pass',
    forwarded: isForwarded(record),
    // “pass” (RFC 9990: delivered because it passed) and unknown values: the message was delivered.
    disposition: disposition === 'quarantine' || disposition === 'reject' ? disposition : 'none',
    messages: record.count,
  }
}

const FORWARDING_REASONS = new Set(['forwarded', 'trusted_forwarder', 'mailing_list'])

/**
 * Whether a forwarder sent the messages: the receiver reports it, or they have the domain's own
 * signature and envelope sender but come from an address outside its SPF record.
 */
function isForwarded(record: AggregateRecord): boolean {
  const { policyEvaluated, identifiers, authResults } = record
  const isReported = policyEvaluated.reasons.some(
    ({ type, comment }) =>
      FORWARDING_REASONS.has(type ?? '') ||
      (type === 'local_policy' && /\barc=pass\b/i.test(comment ?? '')),
  )
  if (isReported) return true
  if (!isAligned(record) || policyEvaluated.spf === 'pass' || identifiers.headerFrom === null)
    return false
  const ours = registeredDomain(identifiers.headerFrom)
  return authResults.spf.some(
    ({ domain, scope, result }) =>
      scope !== 'helo' &&
      isSpfRefusal(result) &&
      domain !== null &&
      ours !== null &&
      registeredDomain(domain) === ours,
  )
}

/**
 * Whether a From domain is the domain or below it. A record without a From domain counts as the
 * domain itself.
 */
export function isWithin(headerFrom: string | null, domain: string): boolean {
  return headerFrom === null || headerFrom === domain || headerFrom.endsWith(`.${domain}`)
}

export function zeroCounts(): Counts {
  return { messages: 0, aligned: 0, dkim: 0, spf: 0, forwarded: 0, quarantined: 0, rejected: 0 }
}

/** Adds messages with the same results as the tally’s. */
export function addCounts(counts: Counts, tally: Tally, messages: number): void {
  counts.messages += messages
  if (tally.dkim || tally.spf) counts.aligned += messages
  if (tally.dkim) counts.dkim += messages
  if (tally.spf) counts.spf += messages
  if (tally.forwarded) counts.forwarded += messages
  if (tally.disposition === 'quarantine') counts.quarantined += messages
  if (tally.disposition === 'reject') counts.rejected += messages
}

/**
 * The UTC days that a report counts for: the one on which it begins, or all of them when it is on
 * more than 36 hours.
 */
export function reportDays({ begin, end }: { begin: Date; end: Date }): string[] {
  const first = Math.floor(begin.getTime() / DAY_MS)
  const last = Math.floor((end.getTime() - 1) / DAY_MS)
  const isSpread = end.getTime() - begin.getTime() > 36 * HOUR_MS && last - first < MAX_SPREAD_DAYS
  const days = isSpread ? last - first + 1 : 1
  return Array.from({ length: days }, (_, index) => dayText(first + index))
}

function dayText(day: number): string {
  return isoDay(day * DAY_MS)
}

/** Messages for one of several days: as even as whole numbers go, and together all of them. */
export function messagesOnDay(messages: number, day: number, days: number): number {
  return Math.ceil(((day + 1) * messages) / days) - Math.ceil((day * messages) / days)
}
