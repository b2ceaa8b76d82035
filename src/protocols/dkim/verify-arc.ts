import { createHash } from 'node:crypto'
import type { DnsQueries } from '../dns-queries.ts'
import { domainNameOf, unfold, type HeaderField, type Message } from '../mail/message.ts'
import { SIGNATURE_TAGS, parseTagList, valueOf } from '../tag-list.ts'
import { canonicalBody, canonicalHeader } from './canonicalize.ts'
import { parseDkimKey } from './dkim-key.ts'
import type { DkimSignature } from './dkim-signature.ts'
import { checkKey } from './verify-dkim.ts'

/** The result of an ARC chain (RFC 8617, 5.2), and why it is none that passes. */
export type ArcVerdict = {
  result: 'none' | 'pass' | 'fail' | 'temperror'
  /** Number of sets. */
  instances: number
  /** The domain of the latest seal; null without one. */
  sealedBy: string | null
  reason: string | null
}

const NAMES = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const
/** RFC 8617, 4.2.1. */
const MAX_INSTANCES = 50

type ArcSet = { results: HeaderField; signature: HeaderField; seal: HeaderField }

/** Verifies the newest signature and all seals of a mail’s ARC chain (RFC 8617, 5.2). */
export async function verifyArc(message: Message, queries: DnsQueries): Promise<ArcVerdict> {
  const fields = message.fields.filter(({ name }) => (NAMES as readonly string[]).includes(name))
  if (fields.length === 0) return { result: 'none', instances: 0, sealedBy: null, reason: null }
  const sets = collectSets(fields)
  const instances = Array.isArray(sets) ? sets.length : 0
  const last = Array.isArray(sets) ? sets.at(-1) : undefined
  const sealedBy = last ? domainNameOf(tagsOf(last.seal)('d')) : null
  const failed = (reason: string): ArcVerdict => ({ result: 'fail', instances, sealedBy, reason })
  if (typeof sets === 'string') return failed(sets)
  const wrong = sets.findIndex(
    ({ seal }, index) => tagsOf(seal)('cv') !== (index ? 'pass' : 'none'),
  )
  if (wrong >= 0) return failed(`the seal of set ${wrong + 1} has an unexpected cv`)
  const checks = [
    checkSignature(message, last as ArcSet, queries),
    ...sets.map((_set, index) => checkSeal(sets.slice(0, index + 1), queries)),
  ]
  const results = await Promise.all(checks)
  if (results.includes('temperror'))
    return { result: 'temperror', instances, sealedBy, reason: 'a key could not be looked up' }
  if (results[0] !== 'pass') return failed('the newest ARC-Message-Signature is not valid')
  const seal = results.findIndex((result) => result !== 'pass')
  if (seal > 0) return failed(`the seal of set ${seal} is not valid`)
  return { result: 'pass', instances, sealedBy, reason: null }
}

/** The sets in their order, or what is wrong with them. */
function collectSets(fields: HeaderField[]): ArcSet[] | string {
  const sets = new Map<number, Partial<Record<string, HeaderField>>>()
  for (const field of fields) {
    const instance = Number(/^\s*i\s*=\s*(\d{1,2})\s*;/.exec(valueText(field))?.[1])
    const number = Number.isInteger(instance) ? instance : Number(tagsOf(field)('i'))
    if (!(number >= 1 && number <= MAX_INSTANCES)) return 'a field has no valid instance (i)'
    const set = sets.get(number) ?? {}
    if (set[field.name]) return `set ${number} has a field twice`
    set[field.name] = field
    sets.set(number, set)
  }
  const ordered: ArcSet[] = []
  for (let number = 1; number <= sets.size; number++) {
    const set = sets.get(number)
    const [results, signature, seal] = NAMES.map((name) => set?.[name])
    if (!results || !signature || !seal) return `set ${number} is not complete`
    ordered.push({ results, signature, seal })
  }
  return ordered
}

const valueText = ({ raw }: HeaderField) => unfold(raw.slice(raw.indexOf(':') + 1))

function tagsOf(field: HeaderField): (name: string) => string | undefined {
  const { tags } = parseTagList(valueText(field), SIGNATURE_TAGS)
  return (name) => valueOf(tags, name)
}

type Outcome = 'pass' | 'fail' | 'temperror'

/** RFC 8617, 4.1.2: as a DKIM signature, but without `v`, and with the instance in `i`. */
async function checkSignature(
  message: Message,
  { signature: field }: ArcSet,
  queries: DnsQueries,
): Promise<Outcome> {
  const tag = tagsOf(field)
  const [header = 'simple', body = 'simple'] = (tag('c') ?? 'simple').toLowerCase().split('/')
  if (![header, body].every((form) => form === 'simple' || form === 'relaxed')) return 'fail'
  const canonicalization = { header, body } as DkimSignature['canonicalization']
  const hash = createHash('sha256')
    .update(canonicalBody(message.body, canonicalization.body), 'latin1')
    .digest('base64')
  if (hash !== (tag('bh') ?? '').replaceAll(/\s/g, '')) return 'fail'
  const signedFields = (tag('h') ?? '').toLowerCase().split(/[ \t]*:[ \t]*/)
  const input = canonicalHeader(message.fields, {
    field,
    signedFields,
    canonicalization,
  } as DkimSignature)
  return checkAgainstKey(tag, input, queries)
}

/** RFC 8617, 5.1.1: a seal covers all sets up to its own, each in this order, relaxed. */
async function checkSeal(sets: ArcSet[], queries: DnsQueries): Promise<Outcome> {
  const own = (sets.at(-1) as ArcSet).seal
  const covered = sets.flatMap(({ results, signature, seal }) => [results, signature, seal])
  const others = covered.filter((field) => field !== own)
  const input = canonicalHeader(
    // A field of a name that repeats is taken from the end.
    others.toReversed(),
    {
      field: own,
      signedFields: others.map(({ name }) => name),
      canonicalization: { header: 'relaxed', body: 'relaxed' },
    } as DkimSignature,
  )
  return checkAgainstKey(tagsOf(own), input, queries)
}

async function checkAgainstKey(
  tag: (name: string) => string | undefined,
  input: string,
  queries: DnsQueries,
): Promise<Outcome> {
  const [domain, selector] = [domainNameOf(tag('d')), domainNameOf(tag('s'))]
  const [keyType = '', hash] = (tag('a') ?? '').toLowerCase().split('-')
  const signature = (tag('b') ?? '').replaceAll(/\s/g, '')
  if (!domain || !selector || hash !== 'sha256') return 'fail'
  const { texts, error } = await queries.lookUpTxt(`${selector}._domainkey.${domain}`)
  if (error) return 'temperror'
  const isValid = texts.some((text) => {
    const key = parseDkimKey(text)
    return key && checkKey(key, { keyType, domain, identity: domain, signature }, input) === 'pass'
  })
  return isValid ? 'pass' : 'fail'
}
