import { lookupFailed, shorten, txtRecord, type Advice, type Severity } from '../advice.ts'
import type { TxtLookup } from '../dns-queries.ts'
import { parseTagList, type Tag } from '../tag-list.ts'

/** The TXT record at `_smtp._tls` (RFC 8460, 3): where senders report failures of TLS. */
export type TlsRptRecord = {
  text: string
  rua: string[]
  invalid: string[]
  /** Addresses of a second `rua`, of which senders may know nothing. */
  repeated: string[]
}

/**
 * @returns null when the text is no TLS reporting record: it must begin with `v=TLSRPTv1;` (RFC
 *   8460, 3)
 */
export function parseTlsRpt(text: string): TlsRptRecord | null {
  if (!/^v=TLSRPTv1[ \t]*;/.test(text)) return null
  const { tags, repeated } = parseTagList(text)
  const given = urisOf(tags.filter(({ name }) => name === 'rua'))
  const more = urisOf(repeated.filter(({ name }) => name === 'rua'))
  return {
    text,
    rua: given.filter(isReportUri),
    invalid: given.filter((uri) => !isReportUri(uri)),
    repeated: more,
  }
}

function urisOf(tags: Tag[]): string[] {
  return tags
    .flatMap(({ value }) => value.split(',').map((uri) => uri.trim()))
    .filter((uri) => uri !== '')
}

function isReportUri(uri: string): boolean {
  return /^mailto:[^\s@]+@[^\s@]+$/i.test(uri) || (/^https:\/\//i.test(uri) && URL.canParse(uri))
}

/** A text that looks like a record but is ignored by senders. */
function isNearMiss(text: string): boolean {
  return parseTlsRpt(text) === null && /^\W*v\s*=\s*TLS-?RPT/i.test(text.slice(0, 40))
}

/** @param found the records at `_smtp._tls` */
export function adviceOnTlsRpt(
  domain: string,
  { texts, error }: TxtLookup,
  receivesMail: boolean,
): Advice[] {
  const name = `_smtp._tls.${domain}`
  if (error) return [lookupFailed('tls-rpt', name, error)]
  const advise = (severity: Severity, message: string, rua: string[] = []): Advice => {
    const value = `v=TLSRPTv1; rua=${[...new Set(rua)].join(',') || `mailto:tls-reports@${domain}`}`
    return { about: 'tls-rpt', severity, message, publish: txtRecord(name, value) }
  }
  const records = texts.map(parseTlsRpt).filter((record) => record !== null)
  const [record] = records
  const [miss] = texts.filter(isNearMiss)
  if (!record && miss !== undefined) {
    const message = `The TXT record “${shorten(miss)}” is not recognized as TLS reporting: a record must begin with exactly \`v=TLSRPTv1;\`.`
    return [
      advise(
        'error',
        message,
        urisOf(parseTagList(miss.replaceAll(/["'“”„]/g, '')).tags).filter(isReportUri),
      ),
    ]
  }
  if (!record) {
    const message =
      'No TLS reporting record. TLS reports show when senders cannot encrypt mail to this domain.'
    return receivesMail ? [advise('info', message)] : []
  }
  if (records.length > 1) {
    const message = `The domain has ${records.length} TLS reporting records. Senders ignore all of them. Keep one.`
    return [advise('error', message, record.rua)]
  }
  const all = [...record.rua, ...record.repeated.filter(isReportUri)]
  if (record.repeated.length > 0) {
    const message =
      'rua is given more than once, and senders may use only one. Write one rua with commas between the addresses.'
    return [advise('warning', message, all)]
  }
  if (record.rua.length > 0 && record.invalid.length === 0) return []
  const message =
    'rua must contain addresses as mailto:name@host or https://…. Other addresses get no reports.'
  return [advise(record.rua.length > 0 ? 'warning' : 'error', message, record.rua)]
}
