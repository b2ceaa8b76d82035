import {
  joinItems,
  lookupFailed,
  shorten,
  txtRecord,
  type Advice,
  type Publish,
  type Severity,
} from '../advice.ts'
import type { TxtLookup } from '../dns-queries.ts'
import { parseTagList, TLS_FIELDS, trimWsp, valueOf } from '../tag-list.ts'
import { DAY_SECONDS } from '../../time.ts'

/**
 * The TXT record at `_mta-sts` (RFC 8461, 3.1). `id` changes with the policy; null when it is
 * missing or wrong.
 */
export type StsRecord = {
  text: string
  id: string | null
  isRepeated: boolean
  /** Why senders ignore the record. */
  problem?: string
}

export const STS_MODES = ['enforce', 'testing', 'none'] as const
type StsMode = (typeof STS_MODES)[number]

/** The policy file (RFC 8461, 3.2). */
export type StsPolicy = {
  mode: StsMode | null
  mx: string[]
  /** Seconds for which senders may keep it. */
  maxAge: number | null
  /** `version` is not the first field. The grammar has no order, but some senders expect it. */
  isMisordered?: true
  /** Why senders cannot use it; empty when they can. */
  errors: string[]
}

/** Where the policy of a domain is, and the only place (RFC 8461, 3.3). */
export function policyUrl(domain: string): URL {
  return new URL(`https://mta-sts.${domain}/.well-known/mta-sts.txt`)
}

/**
 * @returns null when the text is no MTA-STS record: it must begin with `v=STSv1;` (RFC 8461, 3.1)
 */
export function parseStsRecord(text: string): StsRecord | null {
  if (!/^v=STSv1[ \t]*;/.test(text)) return null
  const { tags, repeated, errors } = parseTagList(text, TLS_FIELDS)
  const id = valueOf(tags, 'id') ?? ''
  // RFC 8461, 3.2: of repeated fields the first counts; any other error makes the record invalid.
  const wrong = errors.find(({ isRepeated }) => !isRepeated)
  return {
    text,
    id: /^[a-z\d]{1,32}$/i.test(id) ? id : null,
    isRepeated: repeated.some(({ name }) => name === 'id'),
    ...(wrong && { problem: `at character ${wrong.at + 1}, ${wrong.message}` }),
  }
}

/** A record, or a text that looks like one but is ignored by senders. */
export function resemblesSts(text: string): boolean {
  return /^\W*v\s*=\s*STS/i.test(text.slice(0, 40))
}

/** RFC 8461, 3.1.1: a year or so. */
const MAX_AGE_SECONDS = 31_557_600

const POLICY_FIELD = /^([a-z\d][\w.-]{0,31}):[ \t]*([^\p{Cc}]+)$/iu

/**
 * Parses a policy file (RFC 8461, 3.2): lines of `key: value`, where space and tab alone are white
 * space. Unknown keys are ignored.
 */
export function parseStsPolicy(text: string): StsPolicy {
  const lines = text.split(/\r?\n/).map(trimEndWsp)
  const fields = lines.map((line) => POLICY_FIELD.exec(line))
  const values = (wanted: string) =>
    fields.flatMap((field) => (field?.[1] === wanted ? (field[2] ?? '') : []))
  const wrong = lines.findIndex((line, index) => line !== '' && fields[index] === null)
  const [version, mode, age] = [values('version')[0], values('mode')[0], values('max_age')[0] ?? '']
  const maxAge = /^\d{1,10}$/.test(age) ? Number(age) : null
  const policy = {
    mode: STS_MODES.find((known) => known === mode) ?? null,
    mx: values('mx'),
    maxAge,
  }
  const isMisordered = fields.find((field) => field !== null)?.[1] !== 'version'
  const unreadable = `line ${wrong + 1} is not of the form \`key: value\``
  return {
    ...policy,
    ...(isMisordered && { isMisordered }),
    errors: [
      ...(version === 'STSv1' ? [] : ['`version: STSv1` is missing']),
      ...(wrong < 0 ? [] : [unreadable]),
      ...policyErrors(policy),
    ],
  }
}

/** Before the line end, the grammar allows WSP; at the start of a line it does not. */
function trimEndWsp(line: string): string {
  return line.slice(0, line.indexOf(trimWsp(line)) + trimWsp(line).length)
}

function policyErrors({ mode, mx, maxAge }: Pick<StsPolicy, 'mode' | 'mx' | 'maxAge'>): string[] {
  const errors: string[] = []
  if (mode === null) errors.push('`mode` must be enforce, testing or none')
  if (mode !== 'none' && mx.length === 0) errors.push('`mx` is missing')
  if (maxAge === null || maxAge > MAX_AGE_SECONDS)
    errors.push(`\`max_age\` must be a number of seconds up to ${MAX_AGE_SECONDS}`)
  const wrong = mx.filter(
    (pattern) => !/^(?:\*\.)?[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63})+$/i.test(pattern),
  )
  if (wrong.length > 0)
    errors.push(`\`mx\` must be a host name, or \`*.\` and a host name: ${joinItems(wrong)}`)
  return errors
}

/** RFC 8461, 4.1: `*.` stands for exactly one label. */
export function matchesMx(pattern: string, host: string): boolean {
  const [wanted, name] = [pattern.toLowerCase(), host.toLowerCase()]
  return wanted.startsWith('*.')
    ? name.slice(name.indexOf('.') + 1) === wanted.slice(2)
    : wanted === name
}

/** The policy file as it was fetched, or why it was not. */
export type FetchedPolicy =
  | { policy: StsPolicy; contentType: string | null }
  /** `isOutOfReach`: no answer of the server, which others may get. */
  | { failure: string; isOutOfReach?: boolean }

type About = {
  domain: string
  /** The records at `_mta-sts`. */
  found: TxtLookup
  fetched: FetchedPolicy | null
  /** The hosts that receive mail: without MX, the domain itself (RFC 5321, 5.1). */
  exchanges: string[]
  /** In a form that may serve as an `id`. */
  now: Date
}

/**
 * Lists problems that keep MTA-STS from working. For a domain without it, there is one suggestion.
 */
export function adviceOnMtaSts({ domain, found, fetched, exchanges, now }: About): Advice[] {
  if (found.error) return [lookupFailed('mta-sts', `_mta-sts.${domain}`, found.error)]
  const records = found.texts.map(parseStsRecord).filter((record) => record !== null)
  const [record] = records
  const [text] = found.texts.filter(resemblesSts)
  if (text === undefined) return exchanges.length > 0 ? [absence(domain)] : []
  const broken = record ? recordProblems(record, records.length) : [error(notRecognized(text))]
  const isApplied = record && records.length === 1 && record.id !== null && !record.problem
  const effect = isApplied ? HARMLESS : effectOf(fetched, exchanges)
  const id = now.toISOString().replaceAll(/\D/g, '').slice(0, 14)
  const publish = effect.isHarmless
    ? txtRecord(`_mta-sts.${domain}`, `v=STSv1; id=${id}`)
    : undefined
  const mended = broken.map((one, index) => ({
    ...one,
    message: index === 0 ? one.message + effect.note : one.message,
    publish,
  }))
  return [...mended, ...(fetched && record ? policyAdvice(domain, fetched, exchanges) : [])]
}

function notRecognized(text: string): string {
  return `The TXT record “${shorten(text)}” is not recognized as MTA-STS: a record must begin with exactly \`v=STSv1;\`.`
}

/** Why senders ignore the record or may read it in several ways. */
function recordProblems({ id, isRepeated, problem }: StsRecord, count: number): Advice[] {
  return [
    ...(isRepeated ? [warning('id is given more than once, and senders may use either.')] : []),
    ...(count > 1
      ? [error('The domain has several MTA-STS records. Senders ignore all of them. Keep one.')]
      : []),
    ...(id === null
      ? [error('The id is missing or is not 1 to 32 letters and digits.')]
      : problem === undefined
        ? []
        : [error(`Senders ignore the MTA-STS record: ${problem}.`)]),
  ]
}

const HARMLESS = { isHarmless: true, note: '' }

/** What happens when a valid record makes senders apply the policy. */
function effectOf(fetched: FetchedPolicy | null, exchanges: string[]) {
  if (fetched === null) return HARMLESS
  if ('failure' in fetched) return { ...HARMLESS, isHarmless: fetched.isOutOfReach !== true }
  const { policy } = fetched
  if (policy.mode !== 'enforce' || policy.errors.length > 0) return HARMLESS
  const unnamed = joinItems(unnamedBy(policy, exchanges))
  return unnamed === ''
    ? {
        isHarmless: true,
        note: ' With a valid record, senders apply the policy (mode: enforce): check the certificates of the mail servers first.',
      }
    : {
        isHarmless: false,
        note: ` With a valid record, senders stop delivering to ${unnamed}: add what is missing to the policy first.`,
      }
}

function unnamedBy({ mx }: StsPolicy, exchanges: string[]): string[] {
  return exchanges.filter((host) => !mx.some((pattern) => matchesMx(pattern, host)))
}

const advise = (severity: Severity) => (message: string, publish?: Publish) =>
  ({ about: 'mta-sts', severity, message, publish }) satisfies Advice
const error = advise('error')
const warning = advise('warning')
const info = advise('info')

function absence(domain: string): Advice {
  return info(
    `Without MTA-STS, attackers between the servers can redirect or read mail to ${domain}. Publish a policy file at ${policyUrl(domain).href} and a TXT record.`,
  )
}

function policyAdvice(domain: string, fetched: FetchedPolicy, exchanges: string[]): Advice[] {
  const where = policyUrl(domain).href
  if ('failure' in fetched) {
    if (fetched.isOutOfReach)
      return [warning(`The MTA-STS policy could not be checked: ${fetched.failure}`)]
    return [
      error(
        `The MTA-STS policy could not be fetched, so senders without a cached copy do not apply it: ${fetched.failure}`,
      ),
    ]
  }
  const { policy, contentType } = fetched
  if (policy.errors.length > 0)
    return [error(`Senders cannot use ${where}: ${policy.errors.join('; ')}.`)]
  const advice: Advice[] = []
  const unnamed = unnamedBy(policy, exchanges)
  if (unnamed.length > 0 && policy.mode !== 'none') {
    const what = `The MTA-STS policy does not include the mail ${unnamed.length === 1 ? 'server' : 'servers'} ${joinItems(unnamed)}`
    const severe = policy.mode === 'enforce'
    advice.push(severe ? error(`${what}. Senders do not deliver there.`) : warning(`${what}.`))
  }
  if (policy.mode === 'testing')
    advice.push(
      info(
        'The MTA-STS policy is in test mode (mode: testing). Failures are reported, but mail is still delivered.',
      ),
    )
  if (policy.mode === 'none') advice.push(info('The MTA-STS policy is turned off (mode: none).'))
  if (policy.mode === 'enforce' && (policy.maxAge ?? 0) < DAY_SECONDS) {
    advice.push(
      warning(
        'Senders cache the MTA-STS policy for less than a day. RFC 8461 recommends weeks (max_age: 1209600).',
      ),
    )
  }
  if (policy.isMisordered)
    advice.push(warning(`Write \`version: STSv1\` on the first line of ${where}.`))
  if (!/^text\/plain\b/i.test(contentType ?? ''))
    advice.push(warning(`Serve ${where} as text/plain.`))
  return advice
}
