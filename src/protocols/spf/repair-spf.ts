import { isIPv4, isIPv6 } from 'node:net'
import { isSpf, MACRO, MECHANISMS, parseSpf, type Mechanism, type SpfTerm } from './spf-record.ts'

export type SpfRepair = {
  /** The record to publish; null when none can be proposed for certain. */
  value: string | null
  /** Parts of the text that can be read in more than one way, or in none. */
  unclear: string[]
}

type Wish = {
  /** Terms of the record through which anyone may send. */
  open?: readonly string[]
  /** Whether the text that `exp` leads to is of no use. */
  dropsExplanation?: boolean
}

/** Characters of a text that is repaired; nobody publishes a longer one by hand. */
const MAX_CHARACTERS = 4_096

/**
 * Writes one record with everything that these texts name, spelled correctly and in front of `all`.
 * There is no value when a part cannot be read for certain, or when nothing would be left that may
 * send: publishing it would stop the domain’s own mail.
 * @param texts SPF records, and texts that look like one
 */
export function repairSpf(
  texts: readonly string[],
  { open = [], dropsExplanation = false }: Wish = {},
): SpfRepair {
  if (texts.some(({ length }) => length > MAX_CHARACTERS)) return { value: null, unclear: [] }
  const readings = texts.map(readText)
  const termsOf = (reading: Reading[]) => reading.flatMap(({ terms }) => terms ?? [])
  const terms = readings.flatMap(termsOf)
  const mechanisms = terms.filter((term) => term.kind === 'mechanism')
  const alls = mechanisms.filter(({ name }) => name === 'all')
  const permitsAnyone = (term: Mechanism) => open.includes(term.text) || isWide(term)
  const senders = mechanisms.filter((term) => term.name !== 'all' && !namesNothing(term))
  const redirects = [...new Set(valuesOf(terms, 'redirect'))]
  const keepsRedirect = texts.length === 1 && redirects.length === 1 && alls.length === 0
  const included = keepsRedirect ? [] : redirects.map((target) => `include:${target}`)
  const applied = readings.filter((_reading, index) => isSpf(texts[index] ?? ''))
  // A record that applies keeps its end; texts that only look like one add their senders.
  const ending = applied.length === 1 ? applied : readings
  const end = keepsRedirect ? `redirect=${redirects[0]}` : `${mildestEnd(ending.map(termsOf))}all`
  const [explanation, ...explanations] = new Set(valuesOf(terms, 'exp'))
  const unclear = [
    ...readings.flat().flatMap(({ text, terms: read }) => (read ? [] : [text])),
    ...explanations.map((value) => `exp=${value}`),
  ]
  const others = terms.filter((term) => term.kind === 'modifier' && isReporting(term))
  const permitted = senders.filter(({ qualifier }) => qualifier === '+').length + redirects.length
  // Of a record, the first all counts.
  const forbidsAlready = readings.every((reading) => {
    const first = termsOf(reading).find(({ name }) => name === 'all')
    return first?.kind === 'mechanism' && /[-~]/.test(first.qualifier)
  })
  const losesAll = mechanisms.some((term) => namesNothing(term) || isPlusAll(term))
  // Whoever puts all first may mean to forbid the rest.
  const isForbidden = texts.length === 1 && mechanisms[0]?.name === 'all' && senders.length > 0
  if (
    unclear.length > 0 ||
    isForbidden ||
    senders.some(permitsAnyone) ||
    (permitted === 0 && (losesAll || !forbidsAlready))
  )
    return { value: null, unclear }
  const value = [
    'v=spf1',
    ...new Set([...senders.map(({ text }) => text), ...included]),
    end,
    ...(explanation !== undefined && !dropsExplanation ? [`exp=${explanation}`] : []),
    ...new Set(others.map(({ text }) => text)),
  ].join(' ')
  return { value, unclear }
}

function valuesOf(terms: SpfTerm[], modifier: string): string[] {
  return terms.flatMap(({ kind, name, value }) =>
    kind === 'modifier' && name === modifier ? [value] : [],
  )
}

/**
 * The end of one record in place of several: `-all` only if each of them ends so. Of a record, the
 * first `all` counts (RFC 7208, 5.1), except one that permits everybody.
 */
function mildestEnd(records: SpfTerm[][]): '-' | '~' {
  const ends = records.map((terms) =>
    terms.find((term) => term.kind === 'mechanism' && term.name === 'all' && !isPlusAll(term)),
  )
  return ends.every((end) => end?.kind === 'mechanism' && end.qualifier === '-') ? '-' : '~'
}

const isPlusAll = ({ name, qualifier }: Mechanism) => name === 'all' && qualifier === '+'

function isWide({ qualifier, cidr4, cidr6 }: Mechanism): boolean {
  return qualifier === '+' && ((cidr4 ?? 32) < 8 || (cidr6 ?? 128) < 16)
}

/** `0.0.0.0/0` and `::/0` name no server. Of any other wide network, the length may be mistyped. */
function namesNothing({ qualifier, value, cidr4, cidr6 }: Mechanism): boolean {
  return qualifier === '+' && (cidr4 ?? cidr6) === 0 && /^[0.:]+$/.test(value ?? '')
}

/** RFC 6652, 3: where and how often to report failures. */
export function isReporting({ name }: Pick<SpfTerm, 'name'>): boolean {
  return name === 'ra' || name === 'rp' || name === 'rr'
}

/** A part of a text, and what it means for certain; null when that is not known. */
type Reading = { text: string; terms: SpfTerm[] | null }

/**
 * The texts that only look like SPF records, so that receivers ignore them (RFC 7208, 4.5): by their
 * version, or, when there is no record, by their terms. Sender ID (RFC 4406) has the same terms.
 */
export function nearMissesOf(texts: readonly string[]): string[] {
  const hasRecord = texts.some(isSpf)
  return texts.filter((text) => {
    if (isSpf(text)) return false
    const plain = plainCharacters(text.slice(0, MAX_CHARACTERS))
    return /^\W*v\s*=\s*spf/i.test(plain) || (!hasRecord && hasSpfTerms(plain))
  })
}

function hasSpfTerms(plain: string): boolean {
  return (
    /(?:^|[\s,;])[-+~?]?(?:all(?![\w.-])|(?:ip[46]|include):\S)/i.test(plain) &&
    /spf|^\s*v\W|[-~?]all/i.test(plain) &&
    !/^\s*spf2\.0\//i.test(plain)
  )
}

/** Other digits name another version. */
const VERSION = /^\s*(?:v\s*=\s*)?spf\s*(?:1(?![\d.]))?(?!\d)/i

function readText(text: string): Reading[] {
  const plain = plainCharacters(text)
  if (!VERSION.test(plain)) return [{ text, terms: null }]
  const parts = joinParts(
    plain
      .replace(VERSION, '')
      .split(' ')
      .filter((part) => part !== ''),
  )
  return parts.flatMap((part) =>
    splitPart(part).map((one) => ({ text: one, terms: readTerm(one) })),
  )
}

/**
 * Writes spaces, signs and punctuation that only look like those of ASCII as these, and leaves out
 * quotes, back-slashes and invisible characters: editors and control panels add them.
 */
function plainCharacters(text: string): string {
  return (
    text
      .replace(/^.{0,8}/s, latinLetters)
      // Bytes of Windows-1252 in a text that is not UTF-8: a no-break space and two dashes.
      .replaceAll('\\160', ' ')
      .replaceAll(/\\15[01]/g, '-')
      .replaceAll(/\\(?!\d)/g, '')
      .replaceAll(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
      .replaceAll(/[\s"'`\u00b4\u2018-\u201f\u00ab\u00bb]+/g, ' ')
      .replaceAll(/[\u2010-\u2015\u2212\ufe58\ufe63]/g, '-')
      .replaceAll(/[\u02dc\u223c]/g, '~')
      .replaceAll(/[\u2236\ua789\ufe55]/g, ':')
      .replaceAll(/[\u2044\u2215]/g, '/')
      .replaceAll(/[\u3002\uff61]/g, '.')
      .replaceAll(/[\uff01-\uff5e]/g, (wide) => wide.normalize('NFKC'))
  )
}

/** Characters of a term that is joined; a domain name has at most 253. */
const MAX_JOINED = 300

/** Joins what spaces divide by mistake: `ip4: 192.0.2.1`, `include :example.com`, `- all`. */
function joinParts(parts: string[]): string[] {
  const joined: string[] = []
  for (const part of parts) {
    const before = joined.at(-1)
    const isDivided =
      before !== undefined &&
      (/^[:=/]/.test(part) || (/^[-+~?]$|[:=/]$/.test(before) && (!isTerm(part) || part === 'all')))
    if (isDivided && before.length < MAX_JOINED && !isTerm(before))
      joined.push(`${joined.pop()}${part}`)
    else joined.push(part)
  }
  return joined
}

const isTerm = (part: string) => parseTerm(part) !== null

/** The term that a text is, exactly as it stands. */
function parseTerm(text: string): SpfTerm | null {
  const { terms, errors } = parseSpf(`v=spf1 ${text}`)
  return errors.length === 0 && terms.length === 1 ? (terms[0] ?? null) : null
}

/**
 * Divides terms that no space divides. Names of hosts have no comma, semicolon, `~`, `?`, `+`, `:`
 * or `=`, and no top-level domain ends in `-all`. A part with a macro may have all of these.
 */
function splitPart(part: string): string[] {
  const trimmed = part.replace(/^[,;]+|(?<![,;])[,;]+$/g, '')
  if (trimmed.includes('%')) return [trimmed]
  return trimmed
    .replaceAll(/[,;]+|(?<=.)(?=[~?+])|(?<=^a|[\w.:/]{2})(?=-all(?:$|[~?+,;]))/gi, ' ')
    .replaceAll(/(?<=[\w.:/-]{2})(?=(?:include|exists|ip4|ip6):|redirect=|exp=|v=spf1)/gi, ' ')
    .replaceAll(/(?<=[\w.:/])(?=-all )/gi, ' ')
    .split(' ')
    .filter((one) => one !== '')
}

/** The mechanism that a word stands for. */
const MEANT: Record<string, string> = {
  ip: 'ip4',
  ipv4: 'ip4',
  ipv6: 'ip6',
  includes: 'include',
  exist: 'exists',
}

/** Cyrillic and Greek letters that look like those of the version and the mechanisms. */
const LETTERS: Record<string, string> = {
  а: 'a',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  і: 'i',
  о: 'o',
  р: 'p',
  ѕ: 's',
  х: 'x',
  м: 'm',
  т: 't',
  α: 'a',
  ι: 'i',
  ο: 'o',
  ρ: 'p',
}

function readTerm(text: string): SpfTerm[] | null {
  if (/^v=spf1?$/i.test(text)) return []
  const term = parseTerm(text) ?? parseTerm(correct(text))
  if (term?.kind === 'mechanism') return isPlain(term) ? [term] : null
  if (term && (term.name === 'redirect' || term.name === 'exp'))
    return isPlain(term) ? [term] : null
  if (term && isReporting(term)) return [term]
  if (term === null) return null
  // RFC 7208, 6: receivers ignore it. What names no host or address, and no mechanism, can go.
  if (meansMechanism(text)) return readTerm(correct(text))
  const isHarmless = !/[.:]/.test(term.value) && !isMechanismName(term.name)
  return isHarmless ? [] : null
}

/** Whether a modifier that receivers do not know would be a mechanism with a colon. */
export function meansMechanism(text: string): boolean {
  return parseTerm(correct(text))?.kind === 'mechanism'
}

const isMechanismName = (name: string) => MECHANISMS.some((known) => known === name)

/**
 * Whether a target has no character that neither a host name nor a macro can have. An IPv6 address
 * that ends in an IPv4 one may have a colon too many.
 */
function isPlain({ value }: SpfTerm): boolean {
  if (value === null) return true
  if (isIPv6(value)) return !value.includes('.')
  const host = value.replaceAll(MACRO, '')
  return /^[\w.-]*$/.test(host) && !/-all\.?$/i.test(host)
}

/** Writes a term with the name, the sign and the address family that are meant. */
function correct(text: string): string {
  const [, sign = '', word = '', rest = ''] = /^([-+~?]?)([^:=/]*)(.*)$/s.exec(text) ?? []
  const bare = text.slice(sign.length)
  if (isNetwork(bare) && !isMechanismName(word.toLowerCase())) return networkTerm(sign, bare)
  const latin = latinLetters(word.toLowerCase())
  const name = MEANT[latin] ?? latin
  const value = rest.replace(/^[:=]/, '')
  if (/^(?:ip4|ip6|a|mx|include)$/.test(name) && value !== rest && isNetwork(value))
    return networkTerm(sign, value)
  if (name === 'redirect' || name === 'exp') return `${sign}${name}=${value}`
  return isMechanismName(name) ? `${sign}${name}${rest.replace(/^=/, ':')}` : text
}

function latinLetters(text: string): string {
  return Array.from(text, (letter) => LETTERS[letter] ?? letter).join('')
}

function isNetwork(text: string): boolean {
  const [address = ''] = text.split('/')
  return isIPv4(address) || (isIPv6(address) && !address.includes('%'))
}

function networkTerm(sign: string, network: string): string {
  return `${sign}${network.includes(':') ? 'ip6' : 'ip4'}:${network}`
}
