import {
  joinItems,
  lookupFailed,
  shorten,
  txtRecord,
  type Advice,
  type Severity,
} from '../advice.ts'
import type { TxtLookup } from '../dns-queries.ts'
import { cleanText } from '../damaged-text.ts'
import { readMeantUris } from '../report-uris.ts'
import { listItems, parseTagList, TLS_FIELDS, type Tag } from '../tag-list.ts'

/** The TXT record at `_smtp._tls` (RFC 8460, 3): where senders report failures of TLS. */
export type TlsRptRecord = {
  text: string
  rua: string[]
  invalid: string[]
  /** Addresses of a second `rua`, of which senders may know nothing. */
  repeated: string[]
  /** Parts that are not of the form `name=value`. */
  errors: string[]
}

/**
 * @returns null when the text is no TLS reporting record: it must begin with `v=TLSRPTv1;` (RFC
 *   8460, 3)
 */
export function parseTlsRpt(text: string): TlsRptRecord | null {
  if (!/^v=TLSRPTv1[ \t]*;/.test(text)) return null
  const { tags, repeated, errors } = parseTagList(text, TLS_FIELDS)
  const given = urisOf(tags.filter(({ name }) => name === 'rua'))
  const more = urisOf(repeated.filter(({ name }) => name === 'rua'))
  return {
    text,
    rua: given.filter(isReportUri),
    invalid: given.filter((uri) => !isReportUri(uri)),
    repeated: more,
    errors: errors
      .filter(({ isRepeated }) => !isRepeated)
      .map(({ at, message }) => `at character ${at + 1}, ${message}`),
  }
}

function urisOf(tags: Tag[]): string[] {
  return tags.flatMap(({ value }) => listItems(value, ',')).filter((uri) => uri !== '')
}

/** RFC 8460, 3: there are no size limits, and “!” in an address is written as %21. */
function isReportUri(uri: string): boolean {
  if (!/^[\x21-\x7E]+$/.test(uri) || uri.includes('!')) return false
  return /^mailto:(?!\/)[^@]+@[^@]+$/i.test(uri) || (/^https:\/\//i.test(uri) && URL.canParse(uri))
}

/** A text that looks like a record but is ignored by senders. */
function isNearMiss(text: string): boolean {
  return parseTlsRpt(text) === null && /^\W*v\s*=\s*TLS-?RPT/i.test(text.slice(0, 40))
}

/**
 * The record with all addresses of the published ones, or with the usual one where there are none;
 * null where an address cannot be read for certain.
 */
function repairTlsRpt(domain: string, texts: string[]): string | null {
  const lists = texts.map((text) => readMeantUris(ruaOf(cleanText(text))))
  const strange = lists.flatMap((list) => list.strange)
  // A bare word is no address, and of no use to anybody.
  if (strange.some((item) => /[@.:/]/.test(item))) return null
  const uris = [...new Set(lists.flatMap((list) => list.uris))].map((uri) =>
    uri.replaceAll('!', '%21'),
  )
  // Nobody but its owner knows whether a server at an address with `http:` also has HTTPS.
  if (!uris.every(isReportUri)) return null
  return `v=TLSRPTv1; rua=${uris.join(',') || `mailto:tls-reports@${domain}`}`
}

/** Whatever stands behind `rua=`, also in a record with other separators. */
function ruaOf(text: string): string {
  return text.replace(/^\W*v ?[=:]? ?TLS-?RPT ?v? ?1?/i, '').replaceAll(/\brua ?[=:][ =:]*/gi, ',')
}

/** @param found the records at `_smtp._tls` */
export function adviceOnTlsRpt(
  domain: string,
  { texts, error }: TxtLookup,
  receivesMail: boolean,
): Advice[] {
  const name = `_smtp._tls.${domain}`
  if (error) return [lookupFailed('tls-rpt', name, error)]
  const records = texts.map(parseTlsRpt).filter((record) => record !== null)
  const [record] = records
  const misses = texts.filter(isNearMiss)
  const advise = (severity: Severity, message: string): Advice => {
    const published = records.length > 0 ? records.map(({ text }) => text) : misses
    const value = repairTlsRpt(domain, published)
    return value === null
      ? { about: 'tls-rpt', severity, message }
      : { about: 'tls-rpt', severity, message, publish: txtRecord(name, value) }
  }
  const [miss] = misses
  if (!record && miss !== undefined) {
    const message = `The TXT record “${shorten(miss)}” is not recognized as TLS reporting: a record must begin with exactly \`v=TLSRPTv1;\`.`
    return [advise('error', message)]
  }
  if (!record) {
    const message =
      'No TLS reporting record. TLS reports show when senders cannot encrypt mail to this domain.'
    return receivesMail ? [advise('info', message)] : []
  }
  if (records.length > 1) {
    const message = `The domain has ${records.length} TLS reporting records. Senders ignore all of them. Keep one.`
    return [advise('error', message)]
  }
  if (record.repeated.length > 0) {
    const message =
      'rua is given more than once, and senders may use only one. Write one rua with commas between the addresses.'
    return [advise('warning', message)]
  }
  if (record.errors.length > 0)
    return [
      advise('error', `Senders may ignore the TLS reporting record: ${joinItems(record.errors)}.`),
    ]
  if (record.rua.length > 0 && record.invalid.length === 0) return []
  const message =
    'rua must contain addresses as mailto:name@host or https://…. Other addresses get no reports.'
  return [advise(record.rua.length > 0 ? 'warning' : 'error', message)]
}
