import { KNOWN_TAGS, parseDmarc, parseReportUri, type DmarcRecord } from './dmarc-record.ts'
import { tagsObject, valueOf, type Tag } from '../tag-list.ts'

/** The order in which people write the tags. */
const ORDER = ['p', 'sp', 'np', 'psd', 'adkim', 'aspf', 't', 'fo', 'rua', 'ruf']

/** Writes a record: `v` first, then the tags with a value, in the usual order. */
export function formatDmarc(tags: Record<string, string | undefined>): string {
  const given = ORDER.filter((name) => tags[name])
  return ['v=DMARC1', ...given.map((name) => `${name}=${tags[name]}`)].join('; ')
}

/**
 * Writes a record with the meaning of the published one, without invalid, obsolete or ignored tags.
 * @param changes values that replace published ones; an empty one removes the tag
 */
export function repairDmarc(record: DmarcRecord, changes: Record<string, string> = {}): string {
  const bad = new Set(record.invalid.map(({ name }) => name))
  const kept = record.tags.filter(({ name }) => KNOWN_TAGS.includes(name) && !bad.has(name))
  const tags: Record<string, string> = { ...capitalTags(record), ...tagsObject(kept) }
  return formatDmarc({
    ...tags,
    p: record.p ?? tags.p ?? 'none',
    t: record.testing || hasPartialPct(record) ? 'y' : '',
    psd: record.psd === 'u' ? '' : record.psd,
    rua: repairUris(tags.rua),
    ruf: repairUris(tags.ruf),
    // RFC 9989, 4.7: without `ruf` it means nothing.
    fo: tags.ruf ? (tags.fo ?? '') : '',
    ...changes,
  })
}

/**
 * Corrects the case of tag names where the meaning is clear: `P=reject` is unknown to receivers.
 */
function capitalTags({ tags }: DmarcRecord): Record<string, string> {
  const meant = tags.filter(isCapitalTag).map(({ name, value }) => `${name.toLowerCase()}=${value}`)
  const read = meant.length > 0 ? parseDmarc(`v=DMARC1; ${meant.join('; ')}`) : null
  return tagsObject(read?.tags.filter((tag) => !read.invalid.includes(tag)) ?? [])
}

/** A tag that RFC 9989 knows only in lower case. */
export function isCapitalTag({ name }: Tag): boolean {
  return !KNOWN_TAGS.includes(name) && KNOWN_TAGS.includes(name.toLowerCase())
}

/** `pct` below 100 once meant a policy on trial, as `t=y` does now (RFC 9989, A.6). */
export function hasPartialPct(record: DmarcRecord): boolean {
  const pct = valueOf(record.tags, 'pct')
  return pct !== undefined && /^\d{1,2}$/.test(pct) && record.p !== 'none'
}

function repairUris(list: string | undefined): string {
  const items = list?.split(',').map((item) => parseReportUri(item.trim())) ?? []
  return items.flatMap(({ uri, host }) => (host === null ? repairAddress(uri) : [uri])).join(',')
}

/** The most frequent mistake is an address without `mailto:`. */
function repairAddress(uri: string): string[] {
  return /^[^\s:@]{1,64}@[\w.-]{1,253}$/.test(uri) ? [`mailto:${uri}`] : []
}

/** Explains why a text is not a valid DMARC record, and which one was intended. */
export type NearMiss = { text: string; reason: string; repaired: string }

/**
 * Finds a text that looks like a DMARC record but is ignored by receivers; null for anything else.
 */
export function findNearMiss(text: string): NearMiss | null {
  const start = text.slice(0, 200)
  if (
    parseDmarc(text) ||
    !/^\W*v\s*=\s*DMARC|^\W*p\s*=\s*(none|quarantine|reject)\b|;\s*v\s*=\s*DMARC1/i.test(start)
  ) {
    return null
  }
  const rest = text.replaceAll(/["'“”„]/g, '').replace(/(^|;)\s*v\s*=\s*DMARC\s*1?/i, '')
  const meant = parseDmarc(`v=DMARC1;${rest}`)
  return {
    text,
    reason: whyPassedOver(start),
    repaired: meant ? repairDmarc(meant) : 'v=DMARC1; p=none',
  }
}

function whyPassedOver(start: string): string {
  if (/^\s*["'“”„]/.test(start))
    return 'it begins with a quotation mark, which belongs in zone files but not in control panels'
  if (!/v\s*=\s*DMARC/i.test(start)) return 'it does not begin with `v=DMARC1`'
  if (/^\s+v/i.test(start)) return 'it begins with white space, but `v=DMARC1` must come first'
  if (!/^v/i.test(start)) return '`v=DMARC1` must come first'
  if (/^v\s*=\s*DMARC1\s*[^;\s]/.test(start)) return 'a semicolon is missing after `v=DMARC1`'
  return 'the version must be exactly `v=DMARC1`'
}
