import type { Advice } from '../../protocols/advice.ts'
import type { Destination } from '../../protocols/dmarc/report-destinations.ts'
import type { DmarcDiscovery, WalkStep } from '../../protocols/dmarc/dmarc-discovery.ts'
import { RESTORED } from '../../protocols/dmarc/dmarc-advice.ts'
import type { MeantDmarc } from '../../protocols/dmarc/damaged-dmarc.ts'
import {
  DMARC_POLICIES,
  isPolicyTag,
  parseDmarc,
  POLICY_TAGS,
  requestedPolicy,
  strictestPolicy,
  type DmarcRecord,
  type PolicyTag,
} from '../../protocols/dmarc/dmarc-record.ts'
import {
  findNearMiss,
  formatDmarc,
  hasPartialPct,
  isCapitalTag,
  meaningOf,
  mergeMeanings,
} from '../../protocols/dmarc/repair-dmarc.ts'
import { listItems, tagsObject, trimWsp, type Tag } from '../../protocols/tag-list.ts'
import { proposeText, propose, type Proposal, type RecordChange } from './proposal.ts'

type About = {
  discovery: DmarcDiscovery
  destinations: Destination[]
  advice: Advice[]
  usesMail: boolean
  receivesMail: boolean
  /** Where reports of this installation arrive for the domain; null when it is not registered. */
  reportEmail: string | null
  /** The strictest policy that its reports show to be safe; null where they do not. */
  safePolicy: 'quarantine' | 'reject' | null
}

/** The records to publish for DMARC: the policy, and the consent of report receivers. */
export function dmarcProposals(about: About): Proposal[] {
  return [...policyProposals(about), ...about.destinations.flatMap(consentProposals)]
}

function policyProposals(about: About): Proposal[] {
  const { discovery } = about
  const inherited = discovery.record && discovery.policyDomain !== discovery.domain
  const misses = inherited ? (discovery.steps[0]?.texts.filter(findNearMiss) ?? []) : []
  // What was meant as the record of the domain itself comes before the one that applies instead.
  if (misses.length > 0) return absenceProposals(about)
  if (discovery.record && discovery.policyDomain)
    return [
      ...recordProposals(discovery.record, about),
      ...(inherited ? ownRecordProposals(discovery.record, about) : []),
    ]
  return discovery.error ? [] : absenceProposals(about)
}

/**
 * Reports about a subdomain come to its own address only with a record of its own, which takes the
 * place of the inherited one: it has all that this one says of the subdomain.
 */
function ownRecordProposals(record: DmarcRecord, about: About): Proposal[] {
  const { discovery, reportEmail } = about
  const { domain, standing, policyDomain, organizationalDomain } = discovery
  if (reportEmail === null || record.rua.some(({ uri }) => isReportEmail(uri, reportEmail)))
    return []
  const { tags, unclear } = meaningOf(record)
  if (unclear.length > 0) return []
  const p = requestedPolicy(record, standing)?.policy ?? 'none'
  // The registry of a public suffix gets no reports about domains with a record of their own.
  const isOrganization = policyDomain === organizationalDomain
  const kept = tags.filter(
    ({ name }) => !['p', 'sp', 'np', 'psd'].includes(name) && (isOrganization || !isAddress(name)),
  )
  const inherited = { tags: [{ name: 'p', value: p }, ...kept], unclear }
  const { value } = applyTagChanges(inherited, missingAddress(inherited, reportEmail))
  const proposed = { name: `_dmarc.${domain}`, line: 'dmarc', severity: 'suggestion' } as const
  return [proposeText(proposed, { published: [], value, reasons: [ADDS_ADDRESS] })]
}

const isAddress = (tag: string) => tag === 'rua' || tag === 'ruf'

function absenceProposals({ discovery, advice, ...about }: About): Proposal[] {
  const wanted = advice.find(({ publish }) => publish?.name.startsWith('_dmarc.'))
  if (!wanted?.publish) return []
  const { name, value } = wanted.publish
  const step = discovery.steps.find(({ domain }) => name === `_dmarc.${domain}`)
  if (step && step.records.length > 1) return mergedProposals(step, { discovery, advice, ...about })
  const misses = step?.texts.filter((text) => findNearMiss(text)) ?? []
  // Of several texts that were meant as the record, each says something else.
  if (misses.length > 1) return []
  return [
    proposeText(
      {
        name,
        line: 'dmarc',
        severity: 'bad',
        caution: misses.length > 0 || about.reportEmail !== null ? null : newCaution(value),
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

/**
 * A record with the address of this installation, which takes the place of the invented one in a
 * first record.
 */
function withReportEmail(value: string, reportEmail: string | null, name: string): string {
  if (reportEmail === null) return value
  const invented = `mailto:dmarc-reports@${name.replace(/^_dmarc\./, '')}`
  if (value === formatDmarc({ p: 'none', rua: invented }))
    return value.replace(invented, `mailto:${reportEmail}`)
  const record = parseDmarc(value)
  if (!record) return value
  const meaning = meaningOf(record)
  return applyTagChanges(meaning, missingAddress(meaning, reportEmail)).value
}

const ADDS_ADDRESS = 'Adds Portreeve to the receivers of the reports.'

/** The address of this installation, beside those that are there. */
function missingAddress({ tags }: MeantDmarc, reportEmail: string): TagChange[] {
  const { rua } = tagsObject(tags)
  const uris = rua ? listItems(rua, ',') : []
  if (uris.some((uri) => isReportEmail(uri, reportEmail))) return []
  const value = [...(rua ? [rua] : []), `mailto:${reportEmail}`].join(',')
  return [{ tag: 'rua', value, reason: rua ? ADDS_ADDRESS : NO_ADDRESS }]
}

/** We chose the local part, so its case does not matter. */
function isReportEmail(uri: string, reportEmail: string): boolean {
  return uri.trim().toLowerCase().split('!', 1)[0] === `mailto:${reportEmail}`
}

const NO_ADDRESS = 'Without a rua address you get no reports about mail in the name of the domain.'

// --- a record that exists ---

/** A tag to set, or to remove with `value: null`, and why. */
type TagChange = { tag: string; value: string | null; reason: string }
/** A published record, and what it says or is meant to say. */
type Reading = { record: DmarcRecord; meaning: MeantDmarc }

function recordProposals(record: DmarcRecord, about: About): Proposal[] {
  const meaning = meaningOf(record)
  if (meaning.unclear.length > 0) return []
  const differences = textChanges({ record, meaning })
  const repairs = repairsOf(meaning, about)
  // The policy is raised only where nothing else is in the way, and reports can show the effect.
  const steps = differences.length + repairs.length > 0 ? [] : policySteps(record, meaning, about)
  const { value, changes } = applyTagChanges(meaning, [...repairs, ...steps])
  if (differences.length + changes.length === 0) return []
  return [
    propose({
      name: `_dmarc.${about.discovery.policyDomain}`,
      type: 'TXT',
      line: 'dmarc',
      severity: severityOf(record, [...differences, ...changes]),
      published: [record.text],
      value,
      changes: [...differences, ...changes],
      caution: cautionOf({ record, meaning }, [...repairs, ...steps]),
    }),
  ]
}

function severityOf(record: DmarcRecord, changes: RecordChange[]): Proposal['severity'] {
  if (isBroken(record)) return 'bad'
  return changes.every(({ reason }) => reason === ADDS_ADDRESS) ? 'suggestion' : 'warning'
}

function isBroken({ p, invalid }: DmarcRecord): boolean {
  return p === null || invalid.some(isPolicyTag)
}

const WEAK_SUBDOMAINS = 'is weaker than p, so attackers can spoof subdomains.'

function cautionOf({ record, meaning }: Reading, changes: TagChange[]): string | null {
  const tightens = changes.some(({ reason }) => reason.endsWith(WEAK_SUBDOMAINS))
  const addsAddress = changes.some(
    ({ tag, value }) => tag === 'rua' && value?.includes('dmarc-reports@'),
  )
  const restores = POLICY_TAGS.some(
    (tag) => policyRank(meaning, tag) > DMARC_POLICIES.indexOf(record[tag] ?? 'none'),
  )
  const cautions = [
    ...(restores ? [RESTORED] : []),
    ...(tightens ? ['Check that mail from your subdomains passes first.'] : []),
    ...(addsAddress ? ['Reports need an address that exists. Change rua if it does not.'] : []),
  ]
  return cautions.join(' ') || null
}

function repairsOf(meaning: MeantDmarc, about: About): TagChange[] {
  const { discovery, usesMail } = about
  const isParked = !usesMail && discovery.standing === 'own'
  return [
    ...policyRepairs(meaning),
    ...(isParked ? [] : testRepairs(meaning)),
    ...(isParked ? parkedRepairs(meaning, discovery) : subdomainRepairs(meaning, discovery)),
    ...addressRepairs(meaning, about),
  ]
}

function policyRepairs({ tags }: MeantDmarc): TagChange[] {
  const hasPolicy = tags.some(({ name }) => name === 'p')
  return hasPolicy ? [] : [{ tag: 'p', value: 'none', reason: 'The policy (p) is missing.' }]
}

/** Research on receivers: until all know `t`, both tags together have the meaning of `pct`. */
function testRepairs(meaning: MeantDmarc): TagChange[] {
  const { t = 'n', pct, p } = tagsObject(meaning.tags)
  if (!hasPartialPct(meaning) || t.toLowerCase() === 'y') return []
  const reason = `Receivers that follow RFC 9989 ignore pct=${pct} and apply p=${p} to all mail. With t=y they apply one level less; older receivers still read pct.`
  return [{ tag: 't', value: 'y', reason }]
}

function policyRank({ tags }: MeantDmarc, tag: PolicyTag): number {
  return DMARC_POLICIES.indexOf(strictestPolicy([tagsObject(tags)[tag] ?? 'none']))
}

function subdomainRepairs(
  meaning: MeantDmarc,
  { policyDomain, organizationalDomain }: DmarcDiscovery,
): TagChange[] {
  const given = tagsObject(meaning.tags)
  if (policyDomain !== organizationalDomain && given['psd']?.toLowerCase() !== 'y') return []
  return (['sp', 'np'] as const)
    .filter((tag) => given[tag] && policyRank(meaning, tag) < policyRank(meaning, 'p'))
    .map((tag) => ({
      tag,
      value: null,
      reason: `${tag}=${given[tag]} ${WEAK_SUBDOMAINS}`,
    }))
}

/** An address to which no reports come stays in the record: a typing error in it is its owner’s to correct. */
function addressRepairs(
  { tags, unclear }: MeantDmarc,
  { discovery: { domain, policyDomain }, reportEmail, usesMail, receivesMail }: About,
): TagChange[] {
  if (reportEmail !== null && (policyDomain ?? domain) === domain)
    return missingAddress({ tags, unclear }, reportEmail)
  // An address at a domain without mailboxes would receive nothing.
  const hasMailbox = usesMail && (receivesMail || policyDomain !== domain)
  if (tagsObject(tags)['rua'] || !hasMailbox) return []
  return [{ tag: 'rua', value: `mailto:dmarc-reports@${policyDomain}`, reason: NO_ADDRESS }]
}

function parkedRepairs(
  { tags }: MeantDmarc,
  { domain, effectivePolicy }: DmarcDiscovery,
): TagChange[] {
  if (effectivePolicy === 'reject') return []
  const reason = `${domain} does not use mail, so receivers can reject everything in its name.`
  const idle = tags.filter(({ name }) => ['sp', 'np', 't', 'pct'].includes(name))
  return [
    { tag: 'p', value: 'reject', reason },
    ...idle.map(({ name }) => ({ tag: name, value: null, reason })),
  ]
}

function policySteps(
  record: DmarcRecord,
  { tags, unclear }: MeantDmarc,
  { discovery, usesMail, safePolicy }: About,
): TagChange[] {
  const isOwn = discovery.standing === 'own'
  if (safePolicy === null || !usesMail || !isOwn || record.rua.length === 0) return []
  if (policyRank({ tags, unclear }, 'p') >= DMARC_POLICIES.indexOf(safePolicy)) return []
  const reason = `Your reports show that your own mail passes, so p=${safePolicy} is safe.`
  const raised = tags.map((tag) => (tag.name === 'p' ? { ...tag, value: safePolicy } : tag))
  return [{ tag: 'p', value: safePolicy, reason }, ...testRepairs({ tags: raised, unclear })]
}

/**
 * The differences between the text and its meaning: parts that are no tags, tags that are repeated,
 * misspelt or invalid.
 */
function textChanges({ record, meaning }: Reading, merged?: MergeReasons): RecordChange[] {
  const left = new Map(meaning.tags.map(({ name, value }) => [name, value]))
  const published = record.tags.slice(1)
  for (const { name, value } of published) if (left.get(name) === value) left.delete(name)
  const same = new Set(meaning.tags.map(({ name, value }) => `${name}=${value}`))
  const changed = published
    .filter(({ name, value }) => !same.has(`${name}=${value}`))
    .map((tag) => {
      const name = left.has(tag.name) ? tag.name : tag.name.toLowerCase()
      const value = left.get(name)
      left.delete(name)
      return {
        removed: `${tag.name}=${tag.value}`,
        added: value === undefined ? null : `${name}=${value}`,
        reason: merged?.(name) ?? reasonOf(tag, record),
      }
    })
  const unread = record.errors.map(({ at, message, isRepeated }) => ({
    removed: trimWsp(record.text.slice(at).split(';', 1)[0] ?? '') || ';',
    added: null,
    reason: isRepeated
      ? `The tag ${message}; receivers may use either.`
      : `Unreadable: ${message}.`,
  }))
  const restored = [...left].map(([name, value]) => ({
    removed: null,
    added: `${name}=${value}`,
    reason: merged?.(name) ?? 'The tag in its correct spelling.',
  }))
  return [...unread, ...changed, ...restored]
}

function reasonOf({ name, value, at }: Tag, record: DmarcRecord): string {
  if (isCapitalTag({ name, value, at }))
    return `Receivers may ignore ${name}. Tag names are in lower case.`
  if (record.invalid.some((tag) => tag.at === at)) return `${name}=${value} is not valid.`
  const broken = name === 'rua' || name === 'ruf' ? record[name] : []
  const [first] = broken.filter(({ host }) => host === null)
  if (first) return `Reports cannot be sent to “${first.uri.slice(0, 80)}”.`
  return `Receivers read ${name}=${value} differently from what it is meant to say.`
}

/**
 * Writes the record with these changes. Every other tag stays as it is, in its place, also those
 * that are unknown or obsolete.
 */
function applyTagChanges(
  meaning: MeantDmarc,
  wanted: TagChange[],
): { value: string; changes: RecordChange[] } {
  const tags = [{ name: 'v', value: 'DMARC1' }, ...meaning.tags]
  const changes: RecordChange[] = []
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

/** Why a tag of the first record changes; null for another reason. */
type MergeReasons = (name: string) => string | null

/** Several records become one: the first, with the strictest policies and all report addresses. */
function mergedProposals({ domain, records }: WalkStep, about: About): Proposal[] {
  const [first, ...others] = records as [DmarcRecord, ...DmarcRecord[]]
  const meaning = mergeMeanings(records)
  if (meaning.unclear.length > 0) return []
  const repairs = repairsOf(meaning, { ...about, destinations: [] }).filter(
    ({ tag }) => tag !== 'rua' || about.reportEmail !== null,
  )
  const { value, changes } = applyTagChanges(meaning, repairs)
  const reason = `With ${records.length} DMARC records, receivers ignore all of them (RFC 9989, 4.10).`
  const differences = textChanges({ record: first, meaning }, (name) =>
    name === 'rua' || name === 'ruf'
      ? 'The report addresses of the other record are kept.'
      : isPolicyTag({ name })
        ? 'The strictest policy of the records is kept.'
        : null,
  )
  return [
    propose({
      name: `_dmarc.${domain}`,
      type: 'TXT',
      line: 'dmarc',
      severity: 'bad',
      published: records.map(({ text }) => text),
      value,
      changes: [
        ...others.map(({ text }) => ({ removed: text, added: null, reason })),
        ...differences,
        ...changes,
      ],
      caution:
        'Compare the policies of the records. This one has the strictest, which receivers do not apply yet.',
    }),
  ]
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
