import { lookupFailed, txt, type Advice } from './advice.ts'
import type { Texts } from './questions.ts'
import { parseTagList, valueOf } from './tag-list.ts'

/** The TXT record at `_smtp._tls` (RFC 8460, 3): where senders report failures of TLS. */
export type TlsRptRecord = { text: string; rua: string[]; invalid: string[] }

/** @returns null when the text is no TLS reporting record */
export function parseTlsRpt(text: string): TlsRptRecord | null {
  const { tags } = parseTagList(text)
  if (tags[0]?.name !== 'v' || tags[0].value !== 'TLSRPTv1') return null
  const uris = (valueOf(tags, 'rua') ?? '').split(',').map((uri) => uri.trim())
  const given = uris.filter((uri) => uri !== '')
  return { text, rua: given.filter(isReportUri), invalid: given.filter((uri) => !isReportUri(uri)) }
}

function isReportUri(uri: string): boolean {
  return /^mailto:[^\s@]+@[^\s@]+$/i.test(uri) || (/^https:\/\//i.test(uri) && URL.canParse(uri))
}

/** @param found what stands at `_smtp._tls` */
export function adviceOnTlsRpt(domain: string, { texts, error }: Texts, receivesMail: boolean): Advice[] {
  const name = `_smtp._tls.${domain}`
  if (error) return [lookupFailed('tls-rpt', name, error)]
  const records = texts.map(parseTlsRpt).filter((record) => record !== null)
  const [record] = records
  const publish = txt(name, `v=TLSRPTv1; rua=${record?.rua.join(',') || `mailto:tls-reports@${domain}`}`)
  if (!record) {
    const message = 'TLS reports are not asked for: they tell when senders fail to encrypt mail to this domain.'
    return receivesMail ? [{ about: 'tls-rpt', severity: 'info', message, publish }] : []
  }
  if (records.length > 1) {
    const message = `There are ${records.length} TLS reporting records; senders ignore them all. Keep one.`
    return [{ about: 'tls-rpt', severity: 'error', message, publish }]
  }
  if (record.rua.length > 0 && record.invalid.length === 0) return []
  const message = 'rua must name addresses as mailto:name@host or https://…; others get no reports.'
  return [{ about: 'tls-rpt', severity: record.rua.length > 0 ? 'warning' : 'error', message, publish }]
}
