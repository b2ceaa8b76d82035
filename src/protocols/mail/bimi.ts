import type { DnsFailure } from '../../net/dns.ts'
import { txtRecord, type Advice } from '../advice.ts'
import { effectivePolicy } from '../dmarc/dmarc-record.ts'
import type { DmarcDiscovery } from '../dmarc/dmarc-discovery.ts'
import { hasPartialPct } from '../dmarc/repair-dmarc.ts'
import { parseTagList, valueOf } from '../tag-list.ts'

/** The TXT record at `default._bimi` (draft-brand-indicators-for-message-identification). */
export type BimiRecord = {
  text: string
  /** `l`: address of the logo; null when there is none. */
  logo: string | null
  /** `a`: address of the certificate for it. */
  certificate: string | null
  /** An empty `l` and no `a`: the domain declines to take part. */
  declined: boolean
}

/** @returns null when the text is no BIMI record: it must begin with `v=BIMI1`, exactly so */
export function parseBimi(text: string): BimiRecord | null {
  const { tags } = parseTagList(text)
  if (tags[0]?.name !== 'v' || tags[0].value !== 'BIMI1' || tags[0].at > 0) return null
  const logo = valueOf(tags, 'l') || null
  const certificate = valueOf(tags, 'a') || null
  // `l` is required: only an empty one declines.
  const declined = valueOf(tags, 'l') === '' && certificate === null
  return { text, logo, certificate, declined }
}

/**
 * Lists what is missing for a domain’s logo to be shown; empty when nothing is known to be missing.
 */
export function missingForBimi(record: BimiRecord | null, dmarc: DmarcDiscovery): string[] {
  const missing: string[] = []
  if (!record || record.declined) missing.push('a BIMI record that names a logo')
  else if (!isHttps(record.logo)) missing.push('the https:// URL of an SVG logo (l)')
  if (record && !record.declined && !isHttps(record.certificate))
    missing.push('a certificate for the logo (a), which most mailbox providers require')
  return [...missing, ...missingPolicies(dmarc)]
}

/**
 * BIMI draft, “Indicator Discovery”: the policies of the domain and of its organizational domain
 * must both be enforced, for all mail and for subdomains.
 */
function missingPolicies(dmarc: DmarcDiscovery): string[] {
  const { record, effectivePolicy: applied, organizationalDomain, steps } = dmarc
  if (applied !== 'quarantine' && applied !== 'reject')
    return ['a DMARC policy of quarantine or reject']
  const above = steps.find(({ domain }) => domain === organizationalDomain)?.records ?? []
  const organizational = above.length === 1 ? above : []
  const records = [...(record ? [record] : []), ...organizational]
  const isWeak = organizational.some((one) => (effectivePolicy(one, 'own') ?? 'none') === 'none')
  const isPartial = records.some((one) => one.p === 'quarantine' && hasPartialPct(one))
  return [
    ...(isWeak ? [`a DMARC policy of quarantine or reject at ${organizationalDomain}`] : []),
    ...(isPartial ? ['a DMARC policy for all mail (no pct below 100)'] : []),
    ...(records.some(({ sp }) => sp === 'none')
      ? ['a DMARC policy for subdomains (sp) other than none']
      : []),
  ]
}

function isHttps(address: string | null): boolean {
  return address !== null && /^https:\/\/[\x21-\x7E]+$/i.test(address) && URL.canParse(address)
}

/** The record that applies: the domain’s own, or its organizational domain’s if it has none. */
export type BimiFinding = { name: string; records: BimiRecord[]; error: DnsFailure | null }

/** Only for domains with a record, because BIMI is optional. */
export function adviceOnBimi({ name, records }: BimiFinding, dmarc: DmarcDiscovery): Advice[] {
  const [record] = records
  if (!record) return []
  if (records.length > 1) {
    const message = `${name} has ${records.length} BIMI records. With more than one, receivers show no logo. Keep one.`
    // The order of the answer is no choice between two logos, or between a logo and none.
    const isOneMeaning = records.every(
      ({ logo, certificate }) => logo === record.logo && certificate === record.certificate,
    )
    const publish = isOneMeaning ? txtRecord(name, record.text) : undefined
    return [{ about: 'bimi', severity: 'error', message, ...(publish && { publish }) }]
  }
  if (record.declined) return []
  const missing = missingForBimi(record, dmarc)
  if (missing.length === 0) return []
  const message = `The BIMI record exists, but mailbox providers show the logo only with ${missing.join(', and ')}.`
  return [{ about: 'bimi', severity: 'info', message }]
}
