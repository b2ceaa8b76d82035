import { checkDestinations, type Destination } from '../../protocols/dmarc/report-destinations.ts'
import { discoverDmarc, type DmarcDiscovery } from '../../protocols/dmarc/dmarc-discovery.ts'
import { formatDmarc, repairDmarc } from '../../protocols/dmarc/repair-dmarc.ts'
import { parseDmarc, type DmarcRecord } from '../../protocols/dmarc/dmarc-record.ts'
import type { DnsQueries } from '../../protocols/dns-queries.ts'

/** A domain's DMARC record in DNS, and the record to publish. */
export type Publication = {
  name: string
  /**
   * The record to publish: the current one with the report address added, or a first one. Without a
   * report address, it names none of this service.
   */
  record: string
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

/**
 * Queries a domain's DMARC record. Without an answer in time, the fields are null and the record is
 * a first one.
 */
export async function findPublication(
  domain: string,
  reportEmail: string | null,
  questions: DnsQueries,
): Promise<Publication> {
  const [discovery, destination] = await Promise.all([
    discoverDmarc(domain, questions),
    destinationOf(domain, reportEmail, questions),
  ])
  const own = ownRecord(discovery)
  return {
    name: `_dmarc.${domain}`,
    record: recordFor(discovery, own, reportEmail),
    published: own?.text ?? null,
    isConfigured: discovery.error ? null : own !== null && sendsTo(own, reportEmail),
    destination,
  }
}

/** The one valid record at the domain itself. */
function ownRecord({ domain, policyDomain, record }: DmarcDiscovery): DmarcRecord | null {
  return policyDomain === domain ? record : null
}

/**
 * A first record keeps the inherited policy: `p=none` below a strict parent domain would weaken it.
 */
function recordFor(
  discovery: DmarcDiscovery,
  own: DmarcRecord | null,
  reportEmail: string | null,
): string {
  const policy = { p: discovery.effectivePolicy ?? 'none' }
  if (reportEmail === null) return own ? repairDmarc(own) : formatDmarc(policy)
  const ours = `mailto:${reportEmail}`
  if (!own) return formatDmarc({ ...policy, rua: ours })
  const usable = own.rua.filter(({ host }) => host !== null).map(({ uri }) => uri)
  const others = usable.filter((uri) => uri.toLowerCase() !== ours)
  return repairDmarc(own, { rua: [...others, ours].join(',') })
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
