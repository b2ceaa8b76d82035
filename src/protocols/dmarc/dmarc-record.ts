import { domainToASCII } from 'node:url'
import { listItems, parseTagList, trimWsp, valueOf, type Tag, type TagError } from '../tag-list.ts'

export const DMARC_POLICIES = ['none', 'quarantine', 'reject'] as const
export type DmarcPolicy = (typeof DMARC_POLICIES)[number]
/** Of the domain itself, of its subdomains, and of those that do not exist. */
export const POLICY_TAGS = ['p', 'sp', 'np'] as const
export type PolicyTag = (typeof POLICY_TAGS)[number]

export function isPolicyTag({ name }: { name: string }): boolean {
  return (POLICY_TAGS as readonly string[]).includes(name)
}

/** The strictest of some policies, which may be in capitals. */
export function strictestPolicy(policies: readonly string[]): DmarcPolicy {
  const ranks = policies.map((policy) =>
    DMARC_POLICIES.indexOf(policy.toLowerCase() as DmarcPolicy),
  )
  return DMARC_POLICIES[Math.max(0, ...ranks)] ?? 'none'
}

/** One address of `rua` or `ruf`. */
export type ReportUri = {
  /** As published, without an obsolete size limit (`!10m`). */
  uri: string
  /** The host that the reports go to, in A-labels; null when the URI cannot be used. */
  host: string | null
  /** The size limit that RFC 9989 dropped. */
  size: string | null
}

/**
 * A DMARC policy record (RFC 9989, 4.7). Tags that are absent or invalid have their default values.
 */
export type DmarcRecord = {
  text: string
  /** All tags as published, including unknown ones. */
  tags: Tag[]
  p: DmarcPolicy | null
  sp: DmarcPolicy | null
  np: DmarcPolicy | null
  adkim: 'r' | 's'
  aspf: 'r' | 's'
  fo: string[]
  psd: 'y' | 'n' | 'u'
  /** `t=y`: receivers are asked to apply one level less. */
  testing: boolean
  rua: ReportUri[]
  ruf: ReportUri[]
  /** Tags with an invalid value. */
  invalid: Tag[]
  errors: TagError[]
}

/** The allowed values of each tag. Tags that are missing here are free text, a list, or unknown. */
const CHOICES = new Map<string, readonly string[]>([
  ['p', DMARC_POLICIES],
  ['sp', DMARC_POLICIES],
  ['np', DMARC_POLICIES],
  ['adkim', ['r', 's']],
  ['aspf', ['r', 's']],
  ['psd', ['y', 'n', 'u']],
  ['t', ['y', 'n']],
])

/** Tags of RFC 7489 that RFC 9989 took away. */
export const REMOVED_TAGS = ['pct', 'rf', 'ri']
export const KNOWN_TAGS = ['v', ...CHOICES.keys(), 'fo', 'rua', 'ruf']

/**
 * Reads a TXT record found at `_dmarc`.
 * @returns null when it is no DMARC record: it must begin with the tag `v`, its value exactly
 *   `DMARC1` (RFC 9989, 4.8)
 */
export function parseDmarc(text: string): DmarcRecord | null {
  const { tags, errors } = parseTagList(text)
  const [version] = tags
  // RFC 9989, 4.8: of `v=DMARC1` the value is case-sensitive, the name is not.
  if (version?.name.toLowerCase() !== 'v' || version.value !== 'DMARC1' || version.at > 0)
    return null
  version.name = 'v'
  const policy = (name: string) => choice(tags, name) as DmarcPolicy | null
  return {
    text,
    tags,
    p: policy('p'),
    sp: policy('sp'),
    np: policy('np'),
    adkim: (choice(tags, 'adkim') ?? 'r') as 'r' | 's',
    aspf: (choice(tags, 'aspf') ?? 'r') as 'r' | 's',
    fo: failureOptions(tags) ?? ['0'],
    psd: (choice(tags, 'psd') ?? 'u') as 'y' | 'n' | 'u',
    testing: choice(tags, 't') === 'y',
    rua: reportUris(valueOf(tags, 'rua')),
    ruf: reportUris(valueOf(tags, 'ruf')),
    invalid: tags.filter((tag) => isInvalid(tag)),
    errors,
  }
}

function choice(tags: readonly Tag[], name: string): string | null {
  const value = valueOf(tags, name)?.toLowerCase()
  return value !== undefined && CHOICES.get(name)?.includes(value) ? value : null
}

function isInvalid(tag: Tag): boolean {
  if (tag.name === 'fo') return failureOptions([tag]) === null
  return CHOICES.has(tag.name) && choice([tag], tag.name) === null
}

function failureOptions(tags: readonly Tag[]): string[] | null {
  const options = valueOf(tags, 'fo')?.split(':', 9)
  const names = options?.map((option) => trimWsp(option).toLowerCase())
  const isValid =
    names?.every((name) => ['0', '1', 'd', 's'].includes(name)) &&
    new Set(names).size === names.length
  // RFC 9989, 4.8: either 0 or 1.
  return names && isValid && !(names.includes('0') && names.includes('1')) ? names : null
}

function reportUris(list: string | undefined): ReportUri[] {
  const items = listItems(list ?? '', ',')
  return items.filter((item) => item !== '').map(parseReportUri)
}

/** RFC 9989, 4.8: a URI, and after “!” the size limit of old. */
export function parseReportUri(text: string): ReportUri {
  const mark = text.lastIndexOf('!')
  const size =
    mark > 0 && /^\d{1,12}[kmgt]?$/i.test(text.slice(mark + 1)) ? text.slice(mark + 1) : null
  const uri = size === null ? text : text.slice(0, mark)
  return { uri, size, host: hostOf(uri) }
}

function hostOf(uri: string): string | null {
  const [scheme = '', ...rest] = uri.split(':')
  if (scheme.toLowerCase() !== 'mailto')
    return URL.canParse(uri) ? new URL(uri).hostname || null : null
  const [address = ''] = rest.join(':').split('?')
  const at = address.lastIndexOf('@')
  // A slash at the start is one of `mailto://`, not of the mailbox.
  if (at < 1 || !/^(?!\/)[\x21-?A-~]+$/.test(address.slice(0, at))) return null
  return domainToASCII(address.slice(at + 1)).replace(/\.$/, '') || null
}

/** The relation of the checked name to the domain whose record applies. */
export type NameRelation = 'own' | 'subdomain' | 'nonexistent'

/**
 * The policy that a record requests for failing mail, and its tag (RFC 9989, 4.7 and 4.10.1).
 * @returns null when receivers must not use it: `p` is missing or invalid, or `sp` or `np` is
 *   invalid, and there is no usable `rua`
 */
export function requestedPolicy(
  record: DmarcRecord,
  standing: NameRelation,
): { policy: DmarcPolicy; tag: PolicyTag } | null {
  if (record.p === null || record.invalid.some(isPolicyTag)) {
    return record.rua.some(({ host }) => host !== null) ? { policy: 'none', tag: 'p' } : null
  }
  const tags = { own: ['p'], subdomain: ['sp', 'p'], nonexistent: ['np', 'sp', 'p'] } as const
  const tag = tags[standing].find((name) => record[name] !== null) ?? 'p'
  return { policy: record[tag] ?? record.p, tag }
}

/** The policy that receivers apply: with `t=y` one level below the requested one. */
export function effectivePolicy(record: DmarcRecord, standing: NameRelation): DmarcPolicy | null {
  const requested = requestedPolicy(record, standing)
  if (!requested || !record.testing) return requested?.policy ?? null
  return DMARC_POLICIES[DMARC_POLICIES.indexOf(requested.policy) - 1] ?? 'none'
}

const FAILING: Record<DmarcPolicy, string> = {
  none: 'is delivered as usual and only reported',
  quarantine: 'is treated as suspicious, usually moved to the spam folder',
  reject: 'is rejected',
}

const aligned = (what: string) => (value: string) =>
  value === 's'
    ? `Strict: ${what} must be exactly the domain of the From address.`
    : `Relaxed: ${what} can be any domain of the same organisation.`

const requested = (whose: string) => (value: string) =>
  `Mail from ${whose} that fails DMARC ${FAILING[value as DmarcPolicy]}.`

const WHEN: Record<string, string> = {
  '0': 'when neither SPF nor DKIM passes in alignment',
  '1': 'when either SPF or DKIM does not pass in alignment',
  d: 'when a DKIM signature fails',
  s: 'when SPF fails',
}

const MEANINGS: Record<string, (value: string) => string> = {
  v: () => 'This is a DMARC record.',
  p: requested('this domain'),
  sp: requested('existing subdomains'),
  np: requested('subdomains that do not exist'),
  adkim: aligned('the domain of a DKIM signature'),
  aspf: aligned('the domain that SPF checked'),
  t: (value) =>
    value === 'y'
      ? 'Test mode: receivers apply one level less than the policy.'
      : 'Not in test mode.',
  psd: (value) =>
    value === 'y'
      ? 'A public suffix, below which others register domains.'
      : value === 'n'
        ? 'The top domain of its organisation.'
        : 'The tree walk determines whether this is the top domain of its organisation.',
  fo: (value) =>
    `Failure reports are requested ${listItems(value, ':')
      .map((option) => WHEN[option])
      .join(', and ')}.`,
  rua: (value) => `Aggregate reports go to ${listItems(value, ',').join(' and ')}.`,
  ruf: (value) => `Failure reports go to ${listItems(value, ',').join(' and ')}.`,
  pct: () =>
    'Removed by RFC 9989 and ignored: the policy applies to all mail. Use `t=y` for tests.',
  rf: () => 'Removed by RFC 9989 and ignored: failure reports have only one format.',
  ri: () => 'Removed by RFC 9989 and ignored: reports are sent daily.',
}

/** Describes the effect of a tag. */
export function explainTag(tag: Tag): string {
  const explain = Object.hasOwn(MEANINGS, tag.name) ? MEANINGS[tag.name] : undefined
  if (!explain) return 'Not a tag of RFC 9989. Receivers ignore it.'
  if (isInvalid(tag)) return `Not a valid value of ${tag.name}.`
  return explain(tag.name === 'rua' || tag.name === 'ruf' ? tag.value : tag.value.toLowerCase())
}
