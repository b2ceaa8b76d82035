import { checkDestinations, type Destination } from '../../protocols/dmarc/report-destinations.ts'
import { discoverDmarc, type DmarcDiscovery } from '../../protocols/dmarc/dmarc-discovery.ts'
import { formatDmarc } from '../../protocols/dmarc/repair-dmarc.ts'
import { parseDmarc, type DmarcRecord } from '../../protocols/dmarc/dmarc-record.ts'
import type { DnsQueries } from '../../protocols/dns-queries.ts'

/** A domain's DMARC record in DNS, and the record to publish. */
export type Publication = {
  name: string
  /** The record to publish, as the page of the domain proposes it; the current one if it is fine. */
  record: string
  /** The TLS reporting record (RFC 8460) to publish; null without a report address. */
  tlsRecord: string | null
  /** The record at the domain itself; null if there is none or DNS did not respond. */
  published: string | null
  /** Whether the record sends reports to the report address; null if DNS did not respond. */
  isConfigured: boolean | null
  /**
   * The consent that reporters require before they send to another domain (RFC 9990, section 4).
   */
  destination: {
    required: boolean
    name: string | null
    expected: string
    found: string | null
    authorized: boolean | null
  }
}

/** Records so that reports arrive. */
export type ReportRecords = {
  /** To publish; null where the published one needs no change. */
  dmarc: string | null
  /** To publish, or published and right; null where there is none. */
  tlsRpt: string | null
}

const NONE: ReportRecords = { dmarc: null, tlsRpt: null }

/**
 * Queries a domain's DMARC record. Without an answer in time, the fields are null and the record is
 * a first one.
 * @param proposed what the page of the domain proposes
 */
export async function findPublication(
  domain: string,
  reportEmail: string | null,
  questions: DnsQueries,
  proposed: Promise<ReportRecords> = Promise.resolve(NONE),
): Promise<Publication> {
  const [discovery, destination, records] = await Promise.all([
    discoverDmarc(domain, questions),
    destinationOf(domain, reportEmail, questions),
    proposed.catch(() => NONE),
  ])
  const own = ownRecord(discovery)
  return {
    name: `_dmarc.${domain}`,
    record: records.dmarc ?? own?.text ?? firstRecord(discovery, reportEmail),
    published: own?.text ?? null,
    isConfigured: discovery.error ? null : own !== null && sendsTo(own, reportEmail),
    destination,
    tlsRecord:
      records.tlsRpt ?? (reportEmail === null ? null : `v=TLSRPTv1; rua=mailto:${reportEmail}`),
  }
}

/** The one valid record at the domain itself. */
function ownRecord({ domain, policyDomain, record }: DmarcDiscovery): DmarcRecord | null {
  return policyDomain === domain ? record : null
}

/**
 * A first record keeps the inherited policy: `p=none` below a strict parent domain would weaken it.
 */
function firstRecord({ effectivePolicy }: DmarcDiscovery, reportEmail: string | null): string {
  const rua = reportEmail === null ? undefined : `mailto:${reportEmail}`
  return formatDmarc({ p: effectivePolicy ?? 'none', rua })
}

/**
 * Whether a record sends reports to this address. We chose the local part, so its case does not
 * matter.
 */
export function sendsTo(record: DmarcRecord, reportEmail: string | null): boolean {
  return record.rua.some(({ uri }) => uri.toLowerCase() === `mailto:${reportEmail}`)
}

const CONSENT = 'v=DMARC1;'

async function destinationOf(domain: string, reportEmail: string | null, questions: DnsQueries) {
  if (reportEmail === null) return shownDestination(undefined)
  const record = parseDmarc(`v=DMARC1; p=none; rua=mailto:${reportEmail}`)
  const [found] = record ? await checkDestinations(domain, record, questions) : []
  return shownDestination(found)
}

function shownDestination(found: Destination | undefined): Publication['destination'] {
  const { name = null, record = null, authorized = null } = found ?? {}
  return { required: name !== null, name, expected: CONSENT, found: record, authorized }
}
