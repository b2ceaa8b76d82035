import { dataOf } from '../../net/dns.ts'
import { joinItems } from '../../protocols/advice.ts'
import { dnsFailureOf } from '../../protocols/dns-queries.ts'
import type { DomainContext } from '../domain-context.ts'
import { unanswered, unused, type Line, type LineResult } from './line.ts'

/** Identifiers in CAA records by the organisation (O) in the issuer of certificates. */
const AUTHORITIES: { issuer: RegExp; names: string[] }[] = [
  { issuer: /let's encrypt|internet security research/i, names: ['letsencrypt.org'] },
  { issuer: /google trust services/i, names: ['pki.goog', 'google.com'] },
  { issuer: /digicert|thawte|geotrust|rapidssl/i, names: ['digicert.com', 'www.digicert.com'] },
  {
    issuer: /sectigo|comodo|zerossl|usertrust/i,
    names: ['sectigo.com', 'comodoca.com', 'comodo.com', 'zerossl.com', 'usertrust.com'],
  },
  { issuer: /globalsign/i, names: ['globalsign.com'] },
  { issuer: /amazon/i, names: ['amazon.com', 'amazontrust.com', 'awstrust.com', 'amazonaws.com'] },
  { issuer: /buypass/i, names: ['buypass.com', 'buypass.no'] },
  { issuer: /entrust/i, names: ['entrust.net', 'affirmtrust.com'] },
  { issuer: /harica/i, names: ['harica.gr'] },
  { issuer: /actalis/i, names: ['actalis.it'] },
]

export const caaLine: Line = { name: 'caa', title: 'CAA', check: checkCaa }

async function checkCaa(context: DomainContext): Promise<LineResult> {
  const found = await findRecords(context)
  if ('failure' in found) return unanswered('The CAA record', found.failure)
  if (found.records.length === 0)
    return unused('Any certificate authority may issue certificates (no CAA record).')
  const evidence = found.records.map(({ flags = 0, tag, value }) => ({
    label: `${found.name} CAA`,
    value: `${flags} ${tag} "${value}"`,
    state: 'good' as const,
  }))
  const unknown = found.records.filter(isUnknownCritical)
  if (unknown.length > 0) {
    const tags = joinItems([...new Set(unknown.map(({ tag }) => tag))])
    const summary = `No certificate authority may issue certificates: CAA has the critical property ${tags}, which authorities do not know (RFC 8659, 4.1).`
    return {
      state: 'warning',
      summary,
      evidence: evidence.map((one) => ({ ...one, state: 'warning' })),
    }
  }
  const issue = permittedBy('issue', found.records)
  // RFC 8659, 4.3: without `issuewild`, `issue` is for wildcard certificates, too.
  const issuewild = permittedBy('issuewild', found.records) ?? issue
  const conflict = await findConflict(context, { issue, issuewild })
  if (conflict) return { state: 'warning', summary: conflict, evidence }
  return { state: 'good', summary: summaryOf(issue, issuewild), evidence }
}

/** The authorities that may issue; null for all of them. */
type Permitted = string[] | null

/** @returns null without a record of this property */
function permittedBy(property: string, records: { tag: string; value: string }[]): Permitted {
  const own = records.filter(({ tag }) => tag.toLowerCase() === property)
  if (own.length === 0) return null
  const names = own.map(({ value }) => issuerOf(value)).filter((name) => name !== '')
  return [...new Set(names)].toSorted()
}

function summaryOf(issue: Permitted, issuewild: Permitted): string {
  const isSame = issue?.join(' ') === issuewild?.join(' ')
  const may = (names: Permitted, what: string) => {
    if (names === null) return `Any certificate authority may issue ${what}`
    if (names.length === 0) return `No certificate authority may issue ${what}`
    return `Only ${joinItems(names)} may issue ${what}`
  }
  if (isSame && issue === null) return `${may(issue, 'certificates')} (CAA has no issue tag).`
  if (isSame) return `${may(issue, 'certificates')} (CAA).`
  return `${may(issue, 'certificates of single names')}, and ${lowerFirst(may(issuewild, 'wildcard certificates'))} (CAA).`
}

const lowerFirst = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`

/** RFC 8659, 4; RFC 9495; and the properties of the CA/Browser Forum and of mark certificates. */
const KNOWN_PROPERTIES = 'issue issuewild iodef contactemail contactphone issuemail issuevmc'.split(
  ' ',
)
const CRITICAL = 0x80

function isUnknownCritical({ flags = 0, tag }: { flags?: number; tag: string }): boolean {
  return (flags & CRITICAL) !== 0 && !KNOWN_PROPERTIES.includes(tag.toLowerCase())
}

const ISSUER = String.raw`[a-z\d]+(?:-+[a-z\d]+)*(?:\.[a-z\d]+(?:-+[a-z\d]+)*)*`
const PARAMETER = String.raw`[a-z\d]+(?:-+[a-z\d]+)*[ \t]*=[ \t]*[!-:<-~]*[ \t]*`
const ISSUE_VALUE = new RegExp(
  String.raw`^[ \t]*(${ISSUER})?[ \t]*(?:;[ \t]*(?:${PARAMETER}(?:;[ \t]*${PARAMETER})*;?)?[ \t]*)?$`,
  'i',
)

/** The authority that a value names; RFC 8659, 4.2: a value of another form permits none. */
function issuerOf(value: string): string {
  return ISSUE_VALUE.exec(value)?.[1]?.toLowerCase() ?? ''
}

type Found = { name: string; records: ReturnType<typeof dataOf<'CAA'>> } | { failure: string }

/** RFC 8659, 3: the closest name with CAA records decides. */
async function findRecords({ name, registeredDomain, queries }: DomainContext): Promise<Found> {
  const labels = name.split('.')
  for (let at = 0; at < labels.length; at++) {
    const owner = labels.slice(at).join('.')
    const answer = await queries.query(owner, 'CAA')
    const failure = dnsFailureOf(answer)
    if (failure) return { failure }
    const records = dataOf(answer, 'CAA')
    if (records.length > 0 || owner === registeredDomain) return { name: owner, records }
  }
  return { name, records: [] }
}

/** The present certificate comes from an authority that could not renew it. */
async function findConflict(
  context: DomainContext,
  { issue, issuewild }: { issue: Permitted; issuewild: Permitted },
): Promise<string | null> {
  if (issue === null && issuewild === null) return null
  const { addresses } = await context.addressesOf(context.name)
  if (addresses.length === 0) return null
  const probe = await context.probe(context.name, 'https')
  if (!('facts' in probe) || !probe.facts.hostnameMatches) return null
  const [{ issuer: by, subjectAltNames }] = probe.facts.chain
  const organisation = by['O'] ?? ''
  const authority = AUTHORITIES.find(({ issuer }) => issuer.test(organisation))
  const isWildcard = (name: string) => name.startsWith('*.')
  const needed = [
    ...(subjectAltNames.every(isWildcard) ? [] : [issue]),
    ...(subjectAltNames.some(isWildcard) ? [issuewild] : []),
  ]
  const excludes = (names: Permitted) =>
    names && !authority?.names.some((name) => names.includes(name))
  const allowed = needed.find(excludes)
  if (!authority || !allowed) return null
  const permitted = allowed.length > 0 ? `only ${joinItems(allowed)}` : 'no authority'
  return `The certificate is from ${organisation}, but CAA permits ${permitted}, so its renewal will fail.`
}
