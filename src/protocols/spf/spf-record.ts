import { isIPv4, isIPv6 } from 'node:net'

export type Qualifier = '+' | '-' | '~' | '?'
export const MECHANISMS = ['all', 'include', 'a', 'mx', 'ptr', 'ip4', 'ip6', 'exists'] as const
export type MechanismName = (typeof MECHANISMS)[number]

/** `at` is where the term stands in the record, from 0. */
export type SpfTerm = { text: string; at: number } & (
  | {
      kind: 'mechanism'
      name: MechanismName
      qualifier: Qualifier
      /** The domain-spec or network; null when none is given. */
      value: string | null
      /** Prefix lengths; null when none is given. */
      cidr4: number | null
      cidr6: number | null
    }
  | { kind: 'modifier'; name: string; value: string }
)
export type Mechanism = Extract<SpfTerm, { kind: 'mechanism' }>

type SpfError = { at: number; text: string; message: string }

/**
 * An SPF record (RFC 7208). One error makes receivers treat the whole of it as broken (permerror).
 */
export type SpfRecord = { text: string; terms: SpfTerm[]; errors: SpfError[] }

/** RFC 7208, 4.5: exactly `v=spf1`, then a space or the end. */
export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text)
}

/** Reads a record for which `isSpf` holds. */
export function parseSpf(text: string): SpfRecord {
  const record: SpfRecord = { text, terms: [], errors: [] }
  const seen = new Set<string>()
  for (const match of text.slice(6).matchAll(/[^ ]+/g)) {
    const term = parseTerm(match[0], match.index + 6)
    const wrong = 'message' in term ? term.message : whyRepeated(term, seen)
    if (wrong !== null) record.errors.push({ at: term.at, text: term.text, message: wrong })
    else record.terms.push(term as SpfTerm)
  }
  return record
}

/** RFC 7208, 6: `redirect` and `exp` at most once. */
function whyRepeated(term: SpfTerm, seen: Set<string>): string | null {
  if (term.kind === 'mechanism' || (term.name !== 'redirect' && term.name !== 'exp')) return null
  const repeated = seen.has(term.name) ? `${term.name} can be given only once` : null
  seen.add(term.name)
  return repeated
}

function parseTerm(text: string, at: number): SpfTerm | SpfError {
  // A modifier’s name has no colon or slash before its “=”, so the first of these three characters
  // decides.
  const [, name, sign] = /^([a-z][\w.-]*)([=:/]?)/i.exec(text) ?? []
  if (name && sign === '=')
    return parseModifier(text, at, name.toLowerCase(), text.slice(name.length + 1))
  return parseMechanism(text, at)
}

function parseModifier(text: string, at: number, name: string, value: string): SpfTerm | SpfError {
  const isDomain = name === 'redirect' || name === 'exp'
  const wrong = isDomain ? whyNotDomainSpec(value) : whyNotMacroString(value)
  // RFC 7208, 6: any other name is a modifier that receivers ignore, even `include=`.
  return wrong ? { at, text, message: wrong } : { kind: 'modifier', name, value, text, at }
}

const NEAR: Record<string, string> = {
  ip: 'ip4',
  ipv4: 'ip4',
  ipv6: 'ip6',
  includes: 'include',
  address: 'a',
  exist: 'exists',
}

function parseMechanism(text: string, at: number): SpfTerm | SpfError {
  const [, sign = '', word = '', rest = ''] = /^([-+~?]?)([^:/]*)(.*)$/s.exec(text) ?? []
  const name = MECHANISMS.find((known) => known === word.toLowerCase())
  if (!name) {
    const near = Object.hasOwn(NEAR, word.toLowerCase())
      ? `; ${NEAR[word.toLowerCase()]} is probably meant`
      : ''
    return { at, text, message: `“${word.slice(0, 40)}” is not an SPF mechanism${near}` }
  }
  const read = ARGUMENTS[name](rest)
  if (typeof read === 'string') return { at, text, message: read }
  return { kind: 'mechanism', name, qualifier: (sign || '+') as Qualifier, ...read, text, at }
}

type Arguments = Pick<Mechanism, 'value' | 'cidr4' | 'cidr6'>
const NO_ARGUMENTS: Arguments = { value: null, cidr4: null, cidr6: null }

/** Checks the argument of each mechanism; a sentence when it is invalid. */
const ARGUMENTS: Record<MechanismName, (rest: string) => Arguments | string> = {
  all: (rest) => (rest === '' ? NO_ARGUMENTS : 'nothing can follow `all`'),
  include: required,
  exists: required,
  ptr: (rest) => (rest === '' ? NO_ARGUMENTS : required(rest)),
  a: hosts,
  mx: hosts,
  ip4: (rest) =>
    network(rest, { isAddress: isIPv4, longest: 32, family: 'cidr4', name: 'an IPv4 address' }),
  ip6: (rest) =>
    network(rest, { isAddress: isIPv6, longest: 128, family: 'cidr6', name: 'an IPv6 address' }),
}

function required(rest: string): Arguments | string {
  if (!rest.startsWith(':') || rest === ':') return 'a colon and a domain must follow'
  const value = rest.slice(1)
  return whyNotDomainSpec(value) ?? { ...NO_ARGUMENTS, value }
}

function hosts(rest: string): Arguments | string {
  const [, spec = '', cidr4, cidr6] = /^(.*?)(?:\/(\d{1,3}))?(?:\/\/(\d{1,3}))?$/s.exec(rest) ?? []
  const named = spec === '' ? NO_ARGUMENTS : required(spec)
  if (typeof named === 'string') return named
  const lengths = { cidr4: prefix(cidr4, 32), cidr6: prefix(cidr6, 128) }
  if (Object.values(lengths).some(Number.isNaN))
    return 'the prefix length is out of range (up to /32 and //128)'
  return { ...named, ...lengths }
}

type Family = {
  isAddress: (text: string) => boolean
  longest: number
  family: 'cidr4' | 'cidr6'
  name: string
}

function network(rest: string, { isAddress, longest, family, name }: Family): Arguments | string {
  const [address = '', length, ...more] = rest.slice(1).split('/')
  if (!rest.startsWith(':') || !isAddress(address) || address.includes('%'))
    return `a colon and ${name} must follow`
  const cidr = prefix(length, longest)
  if (Number.isNaN(cidr) || more.length > 0)
    return `the prefix length must be a number up to ${longest}`
  return { ...NO_ARGUMENTS, value: address, [family]: cidr }
}

/** A prefix length; null when there is none, NaN when it is none. */
function prefix(text: string | undefined, longest: number): number | null {
  if (text === undefined) return null
  return /^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= longest ? Number(text) : NaN
}

/**
 * RFC 7208, 7.1: a literal, or a letter with how many parts to keep, whether to reverse them, and
 * where to split.
 */
export const MACRO = /%(?:([%_-])|\{([slodiphcrtv])(\d*)(r?)([-.+,/_=]*)\})/gi
/** A byte that is not UTF-8 comes as zone files write it. */
const UNREADABLE = /\\\d{3}/

/** RFC 7208, 7.2: these are for the text of an explanation only. */
const EXPLANATION_LETTERS = 'crt'

/** RFC 7208, 7.1: visible characters, and macros for each percent sign. */
function whyNotMacroString(text: string): string | null {
  if (!/^[\x21-\x7e]*$/.test(text) || UNREADABLE.test(text))
    return 'it has characters outside ASCII'
  const misplaced = macrosOf(text).find(({ letter }) => EXPLANATION_LETTERS.includes(letter))
  return misplaced
    ? `${misplaced.text} is allowed only in the text that \`exp\` refers to`
    : whyNotMacros(text)
}

function whyNotMacros(text: string): string | null {
  if (text.replaceAll(MACRO, '').includes('%')) return 'it has a percent sign that is not a macro'
  // RFC 7208, 7.3.
  return macrosOf(text).some(({ count }) => /^0+$/.test(count))
    ? 'a macro cannot keep 0 parts of a name'
    : null
}

function macrosOf(text: string): { text: string; letter: string; count: string }[] {
  const macros = Array.from(text.matchAll(MACRO), ([whole, , letter = '', count = '']) => {
    return { text: whole, letter: letter.toLowerCase(), count }
  })
  return macros.filter(({ letter }) => letter !== '')
}

/**
 * Whether a text can be the explanation of a failure (RFC 7208, 6.2): ASCII with macros, and
 * spaces.
 */
export function isExplanation(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text) && !UNREADABLE.test(text) && whyNotMacros(text) === null
}

/** RFC 7208, 7.1: ends in a macro, or in a dot and a top label that is no number. */
function whyNotDomainSpec(text: string): string | null {
  const wrong = whyNotMacroString(text)
  if (wrong) return wrong
  if (/%(?:[%_-]|\{[^{}]*\})$/.test(text)) return null
  const labels = text.replace(/\.$/, '').split('.')
  const top = labels.at(-1) ?? ''
  const isTop = /^[a-z\d-]+$/i.test(top) && !/^\d+$|^-|-$/.test(top)
  if (labels.length < 2 || !isTop) return `“${text.slice(0, 60)}” is not a domain name`
  if (hasMacro(text)) return null
  const isLong = text.length > 254 || labels.some((label) => label.length > 63)
  if (labels.includes('')) return 'the domain name has an empty label'
  return isLong ? 'the domain name is too long' : null
}

/**
 * Whether the name depends on the mail that is checked, so that it cannot be looked up beforehand.
 */
function hasMacro(text: string): boolean {
  return /%[{%_-]/.test(text)
}

/**
 * The terms with an effect: those up to `all`, and `redirect` if there is no `all` (RFC 7208, 5.1,
 * 6.1).
 */
export function effectiveTerms({ terms }: SpfRecord): SpfTerm[] {
  const end = terms.findIndex((term) => term.kind === 'mechanism' && term.name === 'all')
  if (end < 0) return terms
  return terms.filter((term, index) =>
    term.kind === 'mechanism' ? index <= end : term.name !== 'redirect',
  )
}

/** The mechanism for all senders that match no earlier one; null when there is none. */
export function allOf(record: SpfRecord): Mechanism | null {
  return (
    (record.terms.find((term) => term.kind === 'mechanism' && term.name === 'all') as
      | Mechanism
      | undefined) ?? null
  )
}

/** The domain of `redirect`, if the record has one and no `all`. */
export function redirectOf(record: SpfRecord): string | null {
  const redirect = effectiveTerms(record).find(
    (term) => term.kind === 'modifier' && term.name === 'redirect',
  )
  return redirect?.value ?? null
}

/** Whether the record permits no sender: every mechanism fails, and no other record is included. */
export function permitsNoSender(record: SpfRecord): boolean {
  const mechanisms = effectiveTerms(record).filter((term) => term.kind === 'mechanism')
  return allOf(record)?.qualifier === '-' && mechanisms.every(({ qualifier }) => qualifier === '-')
}
