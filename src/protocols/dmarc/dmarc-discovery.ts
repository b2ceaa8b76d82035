import type { DnsFailure } from '../../net/dns.ts'
import {
  effectivePolicy,
  parseDmarc,
  type DmarcPolicy,
  type DmarcRecord,
  type NameRelation,
} from './dmarc-record.ts'
import type { DnsQueries, TxtLookup } from '../dns-queries.ts'

/** One name of the tree walk, and the records published at its `_dmarc`. */
export type WalkStep = TxtLookup & { domain: string; records: DmarcRecord[] }

export type DmarcDiscovery = {
  domain: string
  /**
   * The record that applies to the domain; null when there is none, or when it could not be found
   * out.
   */
  record: DmarcRecord | null
  /** Where that record stands: the domain itself, its organisation's or its public suffix's. */
  policyDomain: string | null
  standing: NameRelation
  effectivePolicy: DmarcPolicy | null
  organizationalDomain: string
  /** The names that were asked, from the domain up to where the walk stopped. */
  steps: WalkStep[]
  /** A question without answer that could have changed the result. */
  error: DnsFailure | null
}

/** RFC 9989, 4.10: the walk asks at most eight names. */
const MAX_LABELS_ABOVE = 7

/**
 * The names whose `_dmarc` the tree walk asks for, in order: the name itself, then its ancestors.
 */
export function treeWalkNames(domain: string): string[] {
  const labels = domain.split('.')
  const above = Math.min(MAX_LABELS_ABOVE, labels.length - 1)
  return [
    domain,
    ...Array.from({ length: above }, (_, index) => labels.slice(index - above).join('.')),
  ]
}

/**
 * Finds the DMARC record that applies to a name (RFC 9989, 4.10.1), wherever it stands, and the
 * name's organisational domain (4.10.2). All names of the walk are asked at once and read in its
 * order.
 */
export async function discoverDmarc(domain: string, queries: DnsQueries): Promise<DmarcDiscovery> {
  const [steps, { exists }] = await Promise.all([walk(domain, queries), queries.lookUpTxt(domain)])
  const organizationalDomain = organizationalDomainOf(domain, steps)
  const found = applicableStep(steps, organizationalDomain)
  const record = found?.records[0] ?? null
  const standing = found?.domain === domain ? 'own' : exists ? 'subdomain' : 'nonexistent'
  return {
    domain,
    record,
    policyDomain: found?.domain ?? null,
    standing,
    effectivePolicy: record && effectivePolicy(record, standing),
    organizationalDomain,
    steps,
    error: steps.slice(0, found && steps.indexOf(found)).find((step) => step.error)?.error ?? null,
  }
}

async function walk(domain: string, queries: DnsQueries): Promise<WalkStep[]> {
  const steps = await Promise.all(
    treeWalkNames(domain).map(async (name) => {
      const found = await queries.lookUpTxt(`_dmarc.${name}`)
      const records = found.texts.map(parseDmarc).filter((record) => record !== null)
      return { ...found, domain: name, records }
    }),
  )
  const stop = steps.findIndex((step) => validRecord(step) && validRecord(step)?.psd !== 'u')
  return stop < 0 ? steps : steps.slice(0, stop + 1)
}

/** RFC 9989, 4.10, step 2: of several records none counts. */
function validRecord({ records }: WalkStep): DmarcRecord | undefined {
  return records.length === 1 ? records[0] : undefined
}

/** RFC 9989, 4.10.2. A `psd` ends the walk, so it can only be on the last step. */
function organizationalDomainOf(domain: string, steps: WalkStep[]): string {
  const top = steps.findLast((step) => validRecord(step))
  if (!top) return domain
  const isSuffix = validRecord(top)?.psd === 'y' && top.domain !== domain
  return isSuffix ? oneLabelBelow(top.domain, domain) : top.domain
}

function oneLabelBelow(ancestor: string, domain: string): string {
  return domain
    .split('.')
    .slice(-(ancestor.split('.').length + 1))
    .join('.')
}

/**
 * The author's own record, else the organisation's, else the public suffix's; one in between does
 * not count.
 */
function applicableStep(steps: WalkStep[], organizationalDomain: string): WalkStep | undefined {
  const [own] = steps
  if (!own || own.error) return undefined
  const valid = steps.filter((step) => validRecord(step))
  const isSuffix = (step: WalkStep) => step.domain !== own.domain && validRecord(step)?.psd === 'y'
  return (
    valid.find((step) => step === own) ??
    valid.find((step) => step.domain === organizationalDomain) ??
    valid.find(isSuffix)
  )
}
