import { txt, type Advice } from './advice.ts'
import type { DmarcDiscovery } from './dmarc-discovery.ts'
import { parseTagList, valueOf } from './tag-list.ts'

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

/** @returns null when the text is no BIMI record */
export function parseBimi(text: string): BimiRecord | null {
  const { tags } = parseTagList(text)
  if (tags[0]?.name !== 'v' || tags[0].value.toUpperCase() !== 'BIMI1') return null
  const logo = valueOf(tags, 'l') || null
  const certificate = valueOf(tags, 'a') || null
  return { text, logo, certificate, declined: logo === null && certificate === null }
}

/** What a domain still lacks for its logo to be shown, in words; empty when nothing is known to be missing. */
export function missingForBimi(record: BimiRecord | null, dmarc: DmarcDiscovery): string[] {
  const missing: string[] = []
  if (!record || record.declined) missing.push('a BIMI record that names a logo')
  else if (!isHttps(record.logo)) missing.push('the https:// address of an SVG logo (l)')
  if (record && !record.declined && !isHttps(record.certificate))
    missing.push('a certificate for the logo (a), which most mailbox providers ask for')
  if (dmarc.effectivePolicy !== 'quarantine' && dmarc.effectivePolicy !== 'reject') {
    missing.push('a DMARC policy of quarantine or reject')
  } else if (dmarc.record?.sp === 'none') {
    missing.push('a DMARC policy for subdomains (sp) other than none')
  }
  return missing
}

function isHttps(address: string | null): boolean {
  return address !== null && /^https:\/\//i.test(address) && URL.canParse(address)
}

/** Only for those who have a record: nobody needs BIMI. */
export function adviceOnBimi(domain: string, record: BimiRecord | null, dmarc: DmarcDiscovery): Advice[] {
  if (!record || record.declined) return []
  const missing = missingForBimi(record, dmarc)
  if (missing.length === 0) return []
  const message = `There is a BIMI record, but for the logo to be shown there must also be ${missing.join(', and ')}.`
  const value = `v=BIMI1; l=https://${domain}/logo.svg; a=https://${domain}/logo.pem`
  const publish =
    isHttps(record.logo) && isHttps(record.certificate) ? undefined : txt(`default._bimi.${domain}`, value)
  return [{ about: 'bimi', severity: 'info', message, publish }]
}
