import { cleanText, meantWord } from '../damaged-text.ts'
import { readMeantUris } from '../report-uris.ts'
import type { NamedValue } from '../tag-list.ts'
import {
  DMARC_POLICIES,
  isPolicyTag,
  KNOWN_TAGS,
  parseDmarc,
  REMOVED_TAGS,
  strictestPolicy,
  type DmarcPolicy,
  type PolicyTag,
} from './dmarc-record.ts'

/** What a damaged record says, as far as it can be read. */
export type MeantDmarc = {
  /** In the order of the text, each name once, every value valid. */
  tags: NamedValue[]
  /** Parts that cannot be read for certain. With any, no record may be proposed. */
  unclear: string[]
}

const NAMES = [...KNOWN_TAGS, ...REMOVED_TAGS].filter((name) => name !== 'v')
const WORD = 'none|quarantine|reject'
export const VERSION = /\bv ?[=:;,.]* ?DMARC ?-? ?\d*|^\W*DMARC ?1(?![\w@.])/i

/**
 * Where tags begin: a known name behind a separator of any kind or behind a policy; a name that is
 * long enough behind anything; any other name at the start of a part.
 */
const START = new RegExp(
  `(?<=^|[ ;,|]|${WORD})(${[...NAMES, 'v'].toSorted((one, other) => other.length - one.length).join('|')}) ?[=:][ =:]*` +
    '|(adkim|aspf|pct)[=:] ?(?=[rs\\d])|(ru[af])[=:] ?(?=mailto)|(?<=(?:^|[;,]) ?)(?!mail|https?)(\\w{1,40}) ?=[ =:]*',
  'gi',
)

/** Longer texts are no records that somebody wrote. */
const MAX_CHARACTERS = 4_096

/** Reads what a text was meant to say that stands in the place of a DMARC record. */
export function readMeantDmarc(text: string): MeantDmarc {
  if (text.length > MAX_CHARACTERS) return { tags: [], unclear: [text] }
  const body = cleanText(text).replace(VERSION, ';')
  const reader = createReader()
  const starts = [...body.matchAll(START)]
  for (const part of body.slice(0, starts[0]?.index ?? body.length).split(';')) reader.loose(part)
  for (const [index, start] of starts.entries()) {
    const [all, known, glued, list, other] = start
    const end = starts[index + 1]?.index ?? body.length
    const [value = '', ...rest] = body.slice(start.index + all.length, end).split(';')
    const name = known ?? glued ?? list ?? other ?? ''
    // Addresses behind a semicolon belong to the list before it.
    const isList = /^ru[af]$/i.test(name)
    const more = isList ? rest.filter((part) => part.includes('@')) : []
    reader.tag(name, [value, ...more].join(';'))
    for (const part of rest.filter((one) => !more.includes(one))) reader.loose(part)
  }
  return reader.result()
}

function createReader() {
  const tags = new Map<string, string>()
  const unclear: string[] = []
  /** Policies that no tag takes. */
  const loosePolicies: DmarcPolicy[] = []

  function addPolicy(name: string, value: string): void {
    const policy = readPolicy(value)
    if (policy === null) return void unclear.push(`${name}=${value}`)
    const before = tags.get(name) as DmarcPolicy | undefined
    tags.set(name, before === undefined ? policy : strictestPolicy([before, policy]))
  }

  function addUris(name: string, value: string): void {
    const { uris, strange } = readMeantUris(value)
    unclear.push(...strange)
    const all = [...new Set([...(tags.get(name)?.split(',') ?? []), ...uris])]
    if (all.length > 0) tags.set(name, all.join(','))
  }

  function tag(written: string, text: string): void {
    const name = written.toLowerCase()
    const value = text.replaceAll(/^[ ,|]+|[ ,|]+$/g, '')
    if (name === 'v') return loose(value)
    if (isPolicyTag({ name })) return addPolicy(name, value)
    if (name === 'rua' || name === 'ruf') return addUris(name, value)
    if (NAMES.includes(name)) return addValue(name, value)
    const near = meantName(name, value)
    if (near !== null) return tag(near, value)
    if (value.includes('@')) return void unclear.push(`${written}=${value}`)
    loosePolicies.push(...policiesIn(value))
    if (policiesIn(value).length === 0) addValue(written, value)
  }

  function addValue(name: string, written: string): void {
    if (written.includes('@')) return void unclear.push(`${name}=${written}`)
    const value = /^(?:adkim|aspf|t|psd)$/.test(name) ? firstLetter(written) : written
    if (!tags.has(name) && isValid(name, value)) tags.set(name, value)
  }

  /** A part that is no tag. */
  function loose(text: string): void {
    const [, name, policy] =
      new RegExp(`^[ ,|]*(np|sp|p)[^a-z]*(${WORD})[ ,|]*$`, 'i').exec(text) ?? []
    if (name !== undefined && policy !== undefined) return addPolicy(name.toLowerCase(), policy)
    if (text.includes('@')) return void unclear.push(text.trim())
    loosePolicies.push(...policiesIn(text))
  }

  function result(): MeantDmarc {
    const isUnclear = unclear.some((part) => part.startsWith('p='))
    if (!tags.has('p') && loosePolicies.length > 0 && !isUnclear)
      tags.set('p', strictestPolicy(loosePolicies.splice(0)))
    return {
      tags: [...tags].map(([name, value]) => ({ name, value })),
      unclear: [
        // Without sp and np, p applies to subdomains, and nothing is stricter than reject.
        ...unclear.filter((part) => tags.get('p') !== 'reject' || !/^[sn]p=[^@]*$/.test(part)),
        ...lostPolicies(tags, loosePolicies),
      ],
    }
  }

  return { tag, loose, result }
}

/** The policies that the text names and the tags do not have. */
function lostPolicies(tags: Map<string, string>, loose: DmarcPolicy[]): string[] {
  const rank = (...names: PolicyTag[]) =>
    DMARC_POLICIES.indexOf(
      (names.map((name) => tags.get(name)).find(Boolean) ?? 'none') as DmarcPolicy,
    )
  const weakest = Math.min(rank('p'), rank('sp', 'p'), rank('np', 'sp', 'p'))
  const lost = loose.filter((one) => DMARC_POLICIES.indexOf(one) > weakest)
  // The policy for the domain itself is not known where only one for others is named.
  const isMissing = !tags.has('p') && rank('sp') + rank('np') > 0
  return isMissing ? [...lost, 'p is missing'] : lost
}

function policiesIn(text: string): DmarcPolicy[] {
  return (text.toLowerCase().match(new RegExp(WORD, 'g')) ?? []) as DmarcPolicy[]
}

/** The policy that a value names, also misspelt; null when that is not certain. */
function readPolicy(value: string): DmarcPolicy | null {
  if (value.includes('@')) return null
  const named = policiesIn(value)
  if (named.length > 0) return strictestPolicy(named)
  const [word = '', ...others] = value.match(/[a-z]+/gi) ?? []
  return others.length > 0 ? null : (meantWord(word, DMARC_POLICIES, 2) as DmarcPolicy | null)
}

/** The tag that a misspelt name means, by its value as well. */
function meantName(name: string, value: string): string | null {
  if (name.startsWith('poli')) return 'p'
  if (/^(?:sub|sp)/.test(name) && policiesIn(value).length > 0) return 'sp'
  const names = value.includes('@') ? ['rua', 'ruf'] : ['adkim', 'aspf']
  const near = meantWord(name, names, 1)
  return near !== null && (value.includes('@') || /^[rs]\b/i.test(value)) ? near : null
}

/** “strict” is `s`, “yes” is `y`. */
function firstLetter(value: string): string {
  const [, word = ''] = /^(relaxed|strict|yes|no|unknown)$/i.exec(value) ?? []
  return word === '' ? value : word.charAt(0).toLowerCase()
}

function isValid(name: string, value: string): boolean {
  const read = parseDmarc(`v=DMARC1; ${name}=${value}`)
  return read !== null && read.errors.length === 0 && read.invalid.length === 0
}
