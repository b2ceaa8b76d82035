import { cleanText } from '../damaged-text.ts'
import { readMeantDmarc, VERSION, type MeantDmarc } from './damaged-dmarc.ts'
import {
  KNOWN_TAGS,
  parseDmarc,
  parseReportUri,
  REMOVED_TAGS,
  strictestPolicy,
  type DmarcRecord,
} from './dmarc-record.ts'
import { listItems, tagsObject, type Tag } from '../tag-list.ts'

/** The order in which people write the tags. */
const ORDER = ['p', 'sp', 'np', 'psd', 'adkim', 'aspf', 't', 'pct', 'fo', 'rua', 'ruf']

/** Writes a record: `v` first, then the tags with a value, in the usual order. */
export function formatDmarc(tags: Record<string, string | undefined>): string {
  const given = ORDER.filter((name) => tags[name])
  return ['v=DMARC1', ...given.map((name) => `${name}=${tags[name]}`)].join('; ')
}

/** What the record says: as published, or as it was meant where parts of it cannot be read. */
export function meaningOf({ text, tags, invalid, errors, rua, ruf }: DmarcRecord): MeantDmarc {
  const isWhole =
    errors.length + invalid.length === 0 &&
    [...rua, ...ruf].every(({ host }) => host !== null) &&
    tags.every(({ name }) => KNOWN_TAGS.includes(name) || REMOVED_TAGS.includes(name)) &&
    !tags.some(
      ({ name, value }) => REMOVED_TAGS.includes(name) && /@|none|quarantine|reject/i.test(value),
    )
  if (!isWhole) return readMeantDmarc(text)
  return {
    tags: tags.slice(1).map(({ name, value }) => ({ name, value })),
    unclear: tags.some(({ name }) => name === 'p') ? [] : readMeantDmarc(text).unclear,
  }
}

/**
 * Writes a record with the meaning of the published one, without invalid, obsolete or ignored tags,
 * but with the `pct` of a policy on trial.
 * It may be proposed only where `meaningOf` is certain.
 * @param changes values that replace published ones; an empty one removes the tag
 */
export function repairDmarc(record: DmarcRecord, changes: Record<string, string> = {}): string {
  return formatMeaning(meaningOf(record), changes)
}

/** Writes what a text means as a record, in the usual order. */
export function formatMeaning({ tags }: MeantDmarc, changes: Record<string, string> = {}): string {
  const given = tagsObject(tags)
  const known = Object.fromEntries(tags.map(({ name, value }) => [name, plainValue(name, value)]))
  return formatDmarc({
    ...known,
    p: given['p']?.toLowerCase() ?? 'none',
    t: given['t']?.toLowerCase() === 'y' || hasPartialPct({ tags }) ? 'y' : '',
    // Older receivers do not know t.
    pct: hasPartialPct({ tags }) ? given['pct'] : '',
    psd: known['psd'] === 'u' ? '' : known['psd'],
    // RFC 9989, 4.7: without `ruf` it means nothing.
    fo: given['ruf'] ? (given['fo'] ?? '') : '',
    ...changes,
  })
}

/** Without the size limits that RFC 9989 removed. */
function plainValue(name: string, value: string): string {
  if (name === 'psd') return value.toLowerCase()
  if (name !== 'rua' && name !== 'ruf') return value
  return listItems(value, ',')
    .map((item) => parseReportUri(item).uri)
    .filter((uri) => uri !== '')
    .join(',')
}

/**
 * One record in place of several: the tags of the first, the strictest policies and the report
 * addresses of all.
 */
export function mergeMeanings(records: readonly DmarcRecord[]): MeantDmarc {
  const meanings = records.map(meaningOf)
  const given = meanings.map(({ tags }) => tagsObject(tags))
  const merged = new Map(given.toReversed().flatMap((tags) => Object.entries(tags)))
  for (const name of ['rua', 'ruf']) {
    const uris = new Set(given.flatMap((tags) => (tags[name] ? listItems(tags[name], ',') : [])))
    if (uris.size > 0) merged.set(name, [...uris].join(','))
  }
  // Where a record has no sp or np, another tag of it applies in its place.
  for (const names of [['p'], ['sp', 'p'], ['np', 'sp', 'p']]) {
    const policies = given.flatMap((tags) => names.map((name) => tags[name]).find(Boolean) ?? [])
    const [name = ''] = names
    if (merged.has(name)) merged.set(name, strictestPolicy(policies))
  }
  const [first] = meanings
  const order = [...(first?.tags.map(({ name }) => name) ?? []), ...merged.keys()]
  return {
    tags: [...new Set(order)].map((name) => ({ name, value: merged.get(name) ?? '' })),
    unclear: meanings.flatMap(({ unclear }) => unclear),
  }
}

/** A tag that RFC 9989 knows only in lower case. */
export function isCapitalTag({ name }: Tag): boolean {
  return !KNOWN_TAGS.includes(name) && KNOWN_TAGS.includes(name.toLowerCase())
}

/** `pct` below 100 once meant a policy on trial, as `t=y` does now (RFC 9989, A.6). */
export function hasPartialPct({ tags }: Pick<MeantDmarc, 'tags'>): boolean {
  const { pct = '', p = 'none' } = tagsObject(tags)
  return /^\d{1,2}$/.test(pct) && p.toLowerCase() !== 'none'
}

/**
 * Explains why a text is not a valid DMARC record, and which one was intended; null when that is
 * not certain.
 */
export type NearMiss = { text: string; reason: string; repaired: string | null }

/**
 * Finds a text that looks like a DMARC record but is ignored by receivers; null for anything else.
 */
export function findNearMiss(text: string): NearMiss | null {
  const start = text.slice(0, 200)
  if (parseDmarc(text) || !isMeantAsDmarc(cleanText(start))) return null
  const meant = readMeantDmarc(text)
  const repaired = meant.unclear.length > 0 ? null : formatMeaning(meant)
  return { text, reason: whyPassedOver(start), repaired }
}

const POLICY = /(?<=^|[ ;,])[sn]?p ?[=:]+ ?(?:none|quarantine|reject)\b/i
const OTHER_VERSIONS = /^\W*v ?[=:] ?(?:spf|DKIM|STS|TLS|BIMI)/i

/** What stands at `_dmarc` and names a policy or an address for reports is meant for receivers. */
function isMeantAsDmarc(text: string): boolean {
  if (OTHER_VERSIONS.test(text)) return false
  return VERSION.test(text) || POLICY.test(text) || /\bru[af] ?[=:]+ ?mailto/i.test(text)
}

function whyPassedOver(start: string): string {
  const separator = /^v\s*=\s*DMARC1[ \t]*([^;\s])/.exec(start)?.[1]
  if (/^\s*["'“”„]/.test(start))
    return 'it begins with a quotation mark, which belongs in zone files but not in control panels'
  if (separator === '\\')
    return 'it has back-slashes before semicolons, which belong in zone files but not in control panels'
  if (separator === ',') return 'commas separate its tags, which must be semicolons'
  if (!/v\s*=\s*DMARC/i.test(start)) return 'it does not begin with `v=DMARC1`'
  if (/^\s+v/i.test(start)) return 'it begins with white space, but `v=DMARC1` must come first'
  if (!/^v/i.test(start)) return '`v=DMARC1` must come first'
  // A letter begins a tag; `DMARC1.0` and `DMARC12` are other versions.
  if (/^[a-z]/i.test(separator ?? '') || /^v\s*=\s*DMARC1\s/.test(start))
    return 'a semicolon is missing after `v=DMARC1`'
  return 'the version must be exactly `v=DMARC1`'
}
