import { checkDestinations, type Destination } from '../../protocols/dmarc/report-destinations.ts'
import { discoverDmarc, type DmarcDiscovery } from '../../protocols/dmarc/dmarc-discovery.ts'
import { formatDmarc, repairDmarc } from '../../protocols/dmarc/repair-dmarc.ts'
import { parseDmarc, type DmarcRecord } from '../../protocols/dmarc/dmarc-record.ts'
import type { DnsQueries } from '../../protocols/dns-queries.ts'

/** What the DNS says of a domain's DMARC record, and what it should say. */
export type Publication = {
  name: string
  /** The record to publish: the one that is there with our address added, or a first one. */
  record: string
  /** The record as it stands at the domain itself; null when there is none, or it could not be asked. */
  published: string | null
  /** Whether reports are asked for at our address; null when it could not be asked. */
  isConfigured: boolean | null
  /** The consent without which reporters send nothing to another domain. */
  destination: {
    required: boolean
    name: string | null
    expected: string
    found: string | null
    authorized: boolean | null
  }
}

/** Looks at what a domain publishes. What does not answer in time is null, and the record to publish a first one. */
export async function publicationOf(domain: string, reportEmail: string, questions: DnsQueries): Promise<Publication> {
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

/** A first record asks for no more than what applies already: `p=none` below a strict ancestor would loosen it. */
function recordFor(discovery: DmarcDiscovery, own: DmarcRecord | null, reportEmail: string): string {
  const ours = `mailto:${reportEmail}`
  if (!own) return formatDmarc({ p: discovery.effectivePolicy ?? 'none', rua: ours })
  const usable = own.rua.filter(({ host }) => host !== null).map(({ uri }) => uri)
  const others = usable.filter((uri) => uri.toLowerCase() !== ours)
  return repairDmarc(own, { rua: [...others, ours].join(',') })
}

/** Whether reports are sent to this address. Local parts are ours, so their case means nothing. */
export function sendsTo(record: DmarcRecord, reportEmail: string): boolean {
  return record.rua.some(({ uri }) => uri.toLowerCase() === `mailto:${reportEmail}`)
}

const CONSENT = 'v=DMARC1;'

async function destinationOf(domain: string, reportEmail: string, questions: DnsQueries) {
  const record = parseDmarc(`v=DMARC1; p=none; rua=mailto:${reportEmail}`)
  const [found] = record ? await checkDestinations(domain, record, questions) : []
  return shownDestination(found)
}

function shownDestination(found: Destination | undefined): Publication['destination'] {
  const { name = null, record = null, authorized = null } = found ?? {}
  return { required: name !== null, name, expected: CONSENT, found: record, authorized }
}
