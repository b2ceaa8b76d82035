import type { Advice } from '../../protocols/advice.ts'
import type { Destination } from '../../protocols/dmarc/report-destinations.ts'
import type { DmarcDiscovery, WalkStep } from '../../protocols/dmarc/dmarc-discovery.ts'
import {
  DMARC_POLICIES,
  parseReportUri,
  type DmarcRecord,
} from '../../protocols/dmarc/dmarc-record.ts'
import { findNearMiss, hasPartialPct, isCapitalTag } from '../../protocols/dmarc/repair-dmarc.ts'
import { valueOf } from '../../protocols/tag-list.ts'
import { proposeText, propose, type Proposal, type RecordChange } from './proposal.ts'

type About = {
  discovery: DmarcDiscovery
  destinations: Destination[]
  advice: Advice[]
  usesMail: boolean
  /** Where reports of this installation arrive for the domain; null when it is not registered. */
  reportEmail: string | null
}

/** The records to publish for DMARC: the policy, and the consent of report receivers. */
export function dmarcProposals(about: About): Proposal[] {
  return [...policyProposals(about), ...about.destinations.flatMap(consentProposals)]
}

function policyProposals(about: About): Proposal[] {
  const { discovery, advice } = about
  const [own] = discovery.steps
  if (own && own.records.length > 1) return [mergedProposal(own, about)]
  if (discovery.record && discovery.policyDomain) return recordProposals(discovery.record, about)
  if (discovery.error) return []
  const misses = own?.texts.filter((text) => findNearMiss(text)) ?? []
  const wanted = advice.find(({ publish }) => publish?.name.startsWith('_dmarc.'))
  if (!wanted?.publish) return []
  const { name, value } = wanted.publish
  return [
    proposeText(
      {
        name,
        line: 'dmarc',
        severity: 'bad',
        caution: misses.length > 0 ? null : newCaution(value),
      },
      {
        published: misses,
        value: withReportEmail(value, about.reportEmail, name),
        reasons: [wanted.message],
      },
    ),
  ]
}

function newCaution(value: string): string | null {
  return value.includes('rua=')
    ? 'Reports need an address that exists. Change rua if it does not.'
    : null
}

/** In a first record, the address of this installation takes the place of the invented one. */
function withReportEmail(value: string, reportEmail: string | null, name: string): string {
  const invented = `mailto:dmarc-reports@${name.replace(/^_dmarc\./, '')}`
  return reportEmail === null ? value : value.replace(invented, `mailto:${reportEmail}`)
}

// --- a record that exists ---

/** A tag to set, or to remove with `value: null`, and why. */
type TagChange = { tag: string; value: string | null; reason: string }

function recordProposals(record: DmarcRecord, about: About): Proposal[] {
  const { discovery } = about
  const name = `_dmarc.${discovery.policyDomain}`
  const repairs = repairsOf(record, about)
  const hasRepairs = repairs.length > 0 || textChanges(record).length > 0
  // The policy is raised only where nothing else is in the way, and reports can show the effect.
  const steps = hasRepairs ? [] : policyStep(record, about)
  const { value, changes } = applyTagChanges(record, [...repairs, ...steps])
  if (changes.length === 0) return []
  return [
    propose({
      name,
      type: 'TXT',
      line: 'dmarc',
      severity: isBroken(record) ? 'bad' : 'warning',
      published: [record.text],
      value,
      changes,
      caution: cautionOf([...repairs, ...steps]),
    }),
  ]
}

function isBroken({ p, invalid }: DmarcRecord): boolean {
  return p === null || invalid.some(({ name }) => ['p', 'sp', 'np'].includes(name))
}

const RAISED_POLICY =
  'Not enforced: p=none only monitors, and spoofed mail is delivered. p=quarantine moves it to spam.'
const WEAK_SUBDOMAINS = 'is weaker than p, so attackers can spoof subdomains.'

function cautionOf(changes: TagChange[]): string | null {
  const raises = changes.some(({ reason }) => reason === RAISED_POLICY)
  const tightens = changes.some(({ reason }) => reason.endsWith(WEAK_SUBDOMAINS))
  const addsAddress = changes.some(
    ({ tag, value }) => tag === 'rua' && value?.includes('dmarc-reports@'),
  )
  const cautions = [
    ...(raises ? ['Publish this when the reports show that your own mail passes.'] : []),
    ...(tightens ? ['Check that mail from your subdomains passes first.'] : []),
    ...(addsAddress ? ['Reports need an address that exists. Change rua if it does not.'] : []),
  ]
  return cautions.join(' ') || null
}

function repairsOf(record: DmarcRecord, { destinations, discovery, usesMail, reportEmail }: About) {
  return [
    ...caseRepairs(record),
    ...invalidRepairs(record),
    ...testRepairs(record),
    ...subdomainRepairs(record, discovery),
    ...addressRepairs(record, { destinations, discovery, reportEmail, usesMail }),
    ...(usesMail || discovery.standing !== 'own' ? [] : parkedRepairs(record, discovery)),
  ]
}

function caseRepairs({ tags }: DmarcRecord): TagChange[] {
  return tags.filter(isCapitalTag).flatMap(({ name, value }) => {
    const reason = `Receivers may ignore ${name}. Tag names are in lower case.`
    return [
      { tag: name, value: null, reason },
      { tag: name.toLowerCase(), value, reason },
    ]
  })
}

function invalidRepairs({ invalid, tags, p }: DmarcRecord): TagChange[] {
  const changes: TagChange[] = invalid.map(({ name, value }) => ({
    tag: name,
    value: name === 'p' ? 'none' : null,
    reason: `${name}=${value} is not valid.`,
  }))
  const hasP = tags.some(({ name }) => name.toLowerCase() === 'p')
  if (p === null && !hasP)
    changes.push({ tag: 'p', value: 'none', reason: 'The policy (p) is missing.' })
  return changes
}

/** Research on receivers: until all know `t`, both tags together have the meaning of `pct`. */
function testRepairs(record: DmarcRecord): TagChange[] {
  if (!hasPartialPct(record) || record.testing) return []
  const pct = valueOf(record.tags, 'pct')
  const reason = `Receivers that follow RFC 9989 ignore pct=${pct} and apply p=${record.p} to all mail. With t=y they apply one level less; older receivers still read pct.`
  return [{ tag: 't', value: 'y', reason }]
}

function subdomainRepairs(
  record: DmarcRecord,
  { policyDomain, organizationalDomain }: DmarcDiscovery,
): TagChange[] {
  if (policyDomain !== organizationalDomain && record.psd !== 'y') return []
  const rank = (tag: 'p' | 'sp' | 'np') => DMARC_POLICIES.indexOf(record[tag] ?? 'none')
  return (['sp', 'np'] as const)
    .filter((tag) => record[tag] !== null && rank(tag) < rank('p'))
    .map((tag) => ({
      tag,
      value: null,
      reason: `${tag}=${record[tag]} ${WEAK_SUBDOMAINS}`,
    }))
}

function addressRepairs(
  record: DmarcRecord,
  {
    destinations,
    discovery: { policyDomain },
    reportEmail,
    usesMail,
  }: Pick<About, 'destinations' | 'discovery' | 'reportEmail' | 'usesMail'>,
): TagChange[] {
  const lost = destinations.filter(({ mailbox }) => mailbox?.use.receives === 'nothing')
  const tags = (['rua', 'ruf'] as const).filter((tag) => valueOf(record.tags, tag) !== undefined)
  const repairs = tags.flatMap((tag) => addressRepair(record, tag, lost))
  if (record.rua.some(({ host, uri }) => host !== null && !lost.some((one) => one.uri === uri)))
    return repairs
  // An address at a domain without mail would receive nothing.
  if (reportEmail === null && !usesMail) return repairs
  const uri = `mailto:${reportEmail ?? `dmarc-reports@${policyDomain}`}`
  const kept = repairs.find(({ tag, value }) => tag === 'rua' && value !== null)
  if (kept) return repairs
  const reason = 'Without a rua address you get no reports about mail in the name of the domain.'
  return [...repairs.filter(({ tag }) => tag !== 'rua'), { tag: 'rua', value: uri, reason }]
}

function addressRepair(record: DmarcRecord, tag: 'rua' | 'ruf', lost: Destination[]): TagChange[] {
  const reasons: string[] = []
  const uris = record[tag].flatMap(({ uri, host, size }) => {
    const written = size === null ? uri : `${uri}!${size}`
    if (host === null) {
      reasons.push(`Reports cannot be sent to “${uri.slice(0, 80)}”.`)
      const meant = `mailto:${uri}`
      return parseReportUri(meant).host === null || uri.includes(':') ? [] : [meant]
    }
    const isLost = lost.some((one) => one.tag === tag && one.uri === uri)
    if (isLost) reasons.push(`${host} does not receive mail, so reports to ${uri} are lost.`)
    return isLost ? [] : [written]
  })
  if (reasons.length === 0) return []
  return [{ tag, value: uris.join(',') || null, reason: reasons.join(' ') }]
}

function parkedRepairs(record: DmarcRecord, { domain, effectivePolicy }: DmarcDiscovery) {
  if (effectivePolicy === 'reject') return []
  const reason = `${domain} does not use mail, so receivers can reject everything in its name.`
  return [
    { tag: 'p', value: 'reject', reason },
    ...(record.testing ? [{ tag: 't', value: null, reason }] : []),
  ]
}

function policyStep(record: DmarcRecord, { discovery, usesMail }: About): TagChange[] {
  const isOwn = discovery.standing === 'own'
  if (record.p !== 'none' || !usesMail || !isOwn || record.rua.length === 0) return []
  return [{ tag: 'p', value: 'quarantine', reason: RAISED_POLICY }]
}

/** Parts of the published text that are no tags, or repeat one: parsing has left them out. */
function textChanges({ text, errors }: DmarcRecord): RecordChange[] {
  return errors.map(({ at, message, isRepeated }) => ({
    removed: text.slice(at).split(';', 1)[0]?.trim() || ';',
    added: null,
    reason: isRepeated
      ? `The tag ${message}; receivers may use either.`
      : `It is no tag: ${message}.`,
  }))
}

/**
 * Writes the published record with these changes. Every other tag stays as it is, in its place,
 * also those that are unknown or obsolete.
 */
export function applyTagChanges(
  record: DmarcRecord,
  wanted: TagChange[],
): { value: string; changes: RecordChange[] } {
  const tags = record.tags.map(({ name, value }) => ({ name, value }))
  const changes = textChanges(record)
  for (const { tag, value, reason } of wanted) {
    const at = tags.findIndex(({ name }) => name === tag)
    const before = tags[at]
    if (before === undefined && value === null) continue
    if (before?.value === value) continue
    changes.push({
      removed: before ? `${tag}=${before.value}` : null,
      added: value === null ? null : `${tag}=${value}`,
      reason,
    })
    if (value === null) tags.splice(at, 1)
    else if (before) tags[at] = { name: tag, value }
    else tags.splice(tag === 'p' ? 1 : tags.length, 0, { name: tag, value })
  }
  const move = movePolicyFirst(tags)
  if (move) changes.push(move)
  return { value: tags.map(({ name, value }) => `${name}=${value}`).join('; '), changes }
}

/** RFC 7489, 6.4 had `p` right behind `v`. */
function movePolicyFirst(tags: { name: string; value: string }[]): RecordChange | null {
  const at = tags.findIndex(({ name }) => name === 'p')
  if (at < 2) return null
  const [p] = tags.splice(at, 1)
  if (p) tags.splice(1, 0, p)
  const reason =
    'Receivers that follow RFC 7489 may ignore the record unless p directly follows v=DMARC1.'
  return { removed: null, added: null, reason }
}

/** Several records become the first one, with the report addresses of all. */
function mergedProposal({ domain, records }: WalkStep, about: About): Proposal {
  const [first, ...others] = records as [DmarcRecord, ...DmarcRecord[]]
  const addresses = (tag: 'rua' | 'ruf') => {
    const uris = records.flatMap((record) => record[tag].map(({ uri }) => uri))
    const all = [...new Set(uris)].join(',')
    const own = valueOf(first.tags, tag)
    const reason = 'The report addresses of the other record are kept.'
    return all === '' || first[tag].length === new Set(uris).size
      ? []
      : [{ tag, value: all, reason: own === undefined ? reason : reason }]
  }
  const repairs = repairsOf(first, { ...about, destinations: [] }).filter(
    ({ tag }) => tag !== 'rua',
  )
  const { value, changes } = applyTagChanges(first, [
    ...repairs,
    ...addresses('rua'),
    ...addresses('ruf'),
  ])
  const reason = `With ${records.length} DMARC records, receivers ignore all of them (RFC 9989, 4.10).`
  return propose({
    name: `_dmarc.${domain}`,
    type: 'TXT',
    line: 'dmarc',
    severity: 'bad',
    published: records.map(({ text }) => text),
    value,
    changes: [...others.map(({ text }) => ({ removed: text, added: null, reason })), ...changes],
    caution: 'Compare the policies (p) of the records. This one keeps the policy of the first.',
  })
}

/** The receiver of the reports publishes its consent, in its own zone. */
function consentProposals({
  name,
  authorized,
  uri,
  record,
  sameByPublicSuffix,
}: Destination): Proposal[] {
  if (name === null || authorized !== false) return []
  const reason = `Reporters do not send to ${uri} until the receiver allows it (RFC 9990).`
  return [
    proposeText(
      {
        name,
        line: 'dmarc',
        severity: sameByPublicSuffix ? 'suggestion' : 'warning',
        caution: 'The operator of the report address publishes this record, in its own zone.',
      },
      { published: record === null ? [] : [record], value: 'v=DMARC1;', reasons: [reason] },
    ),
  ]
}
