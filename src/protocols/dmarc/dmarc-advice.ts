import { joinItems, shorten, txtRecord, type Advice, type Publish } from '../advice.ts'
import type { Destination } from './report-destinations.ts'
import type { DmarcDiscovery, WalkStep } from './dmarc-discovery.ts'
import {
  formatDmarc,
  formatMeaning,
  hasPartialPct,
  isCapitalTag,
  meaningOf,
  mergeMeanings,
  repairDmarc,
  findNearMiss,
} from './repair-dmarc.ts'
import {
  DMARC_POLICIES,
  KNOWN_TAGS,
  parseDmarc,
  REMOVED_TAGS,
  requestedPolicy,
  strictestPolicy,
  type DmarcPolicy,
  type DmarcRecord,
  type PolicyTag,
} from './dmarc-record.ts'
import { registeredDomain as registeredOf } from './public-suffix.ts'
import { isSpf } from '../spf/spf-record.ts'
import { tagsObject, valueOf } from '../tag-list.ts'

type About = {
  discovery: DmarcDiscovery
  destinations: Destination[]
  /** False for a domain that neither sends nor receives mail. */
  usesMail: boolean
  /** False for a domain that only sends, too. */
  receivesMail: boolean
  /** All TXT records of the domain itself. */
  texts: string[]
  /** Where a record should go that covers the whole organisation: the registered domain. */
  registeredDomain: string
}

/**
 * Lists problems of the DMARC record that applies, or of its absence, with the record to publish
 * instead.
 */
export function adviceOnDmarc(about: About): Advice[] {
  const advice = listAdvice(about)
  const first = advice.findIndex((one) => restoresPolicy(one.publish, about))
  return advice.map((one, at) =>
    at === first ? { ...one, message: `${one.message} ${RESTORED}` } : one,
  )
}

export const RESTORED =
  'Receivers do not apply this policy yet. Check that your own mail passes first.'

/** Whether a proposal is stricter than what receivers apply, as the text of a broken record says. */
function restoresPolicy(publish: Publish | undefined, { discovery, usesMail }: About): boolean {
  const { domain, record, policyDomain } = discovery
  if (!publish?.name.startsWith('_dmarc.')) return false
  if (!usesMail && publish.name === `_dmarc.${domain}`) return false
  const applied = publish.name === `_dmarc.${policyDomain}` ? record?.p : discovery.effectivePolicy
  return strength(parseDmarc(publish.value)?.p ?? 'none') > strength(applied ?? 'none')
}

function listAdvice(about: About): Advice[] {
  const { discovery } = about
  const found = discovery.steps.findIndex((step) => step.domain === discovery.policyDomain)
  // Records above the one that applies have no effect.
  const walk = discovery.steps.slice(0, found < 0 ? undefined : found + 1).flatMap(stepAdvice)
  if (!discovery.record || !discovery.policyDomain) return [...walk, ...absenceAdvice(about)]
  const isWithoutMail = !about.usesMail && discovery.standing === 'own'
  const propose = createPublish(
    `_dmarc.${discovery.policyDomain}`,
    discovery.record,
    isWithoutMail && discovery.effectivePolicy !== 'reject' ? STRICTEST : {},
  )
  return [
    ...walk,
    ...aliasAdvice(discovery),
    ...inheritanceAdvice(discovery),
    ...syntaxAdvice(discovery.record, propose),
    ...orderAdvice(discovery.record, propose),
    ...policyAdvice(discovery, discovery.record, propose, about.usesMail),
    ...addressAdvice(discovery.policyDomain, discovery.record, {
      propose,
      hasMailbox: about.receivesMail || discovery.policyDomain !== discovery.domain,
    }),
    ...about.destinations.flatMap(consentAdvice),
    ...mailboxAdvice(about.destinations),
  ]
}

/**
 * Writes the record to publish, with changes. Undefined where the meaning of the published one is
 * not certain: a proposal could weaken the policy or lose an address.
 */
type PublishDmarc = (changes?: Record<string, string>) => Publish | undefined

function createPublish(
  name: string,
  record: DmarcRecord,
  always: Record<string, string> = {},
): PublishDmarc {
  const isCertain = meaningOf(record).unclear.length === 0
  return (changes) =>
    isCertain ? txtRecord(name, repairDmarc(record, { ...always, ...changes })) : undefined
}

/** What each proposal has for a domain without mail, so that none takes back what another says. */
const STRICTEST = { p: 'reject', sp: '', np: '', t: '', pct: '' }

const error = (message: string, publish?: Publish): Advice => ({
  about: 'dmarc',
  severity: 'error',
  message,
  publish,
})
const warning = (message: string, publish?: Publish): Advice => ({
  ...error(message, publish),
  severity: 'warning',
})
const info = (message: string, publish?: Publish): Advice => ({
  ...error(message, publish),
  severity: 'info',
})

function stepAdvice({ domain, records, texts }: WalkStep): Advice[] {
  const name = `_dmarc.${domain}`
  const misplaced = spfAdvice(name, domain, texts)
  const misses = texts.map(findNearMiss).filter((miss) => miss !== null)
  const passedOver = misses.map(({ text, reason, repaired }) => {
    const message = `The TXT record “${shorten(text)}” at ${name} is not recognized as DMARC: ${reason}.`
    if (records.length > 0)
      return warning(`${message} Remove it, or write what it says into the other record.`)
    if (misses.length > 1)
      return error(`${message} Several texts look like a record, so none is proposed.`)
    return repaired === null
      ? error(`${message} Its meaning is not certain, so no record is proposed.`)
      : error(message, txtRecord(name, repaired))
  })
  if (records.length < 2) return [...passedOver, ...misplaced]
  const merged = mergeMeanings(records)
  const message = `${name} has ${records.length} DMARC records. With more than one, receivers ignore all of them (RFC 9989, 4.10). Keep one.`
  const publish = merged.unclear.length > 0 ? undefined : txtRecord(name, formatMeaning(merged))
  return [...passedOver, error(message, publish), ...misplaced]
}

/**
 * RFC 7208, 4.4: SPF is read at the domain itself, whether a record or a wildcard published it
 * there.
 */
function spfAdvice(name: string, domain: string, texts: string[]): Advice[] {
  const [text] = texts.filter(isSpf)
  if (text === undefined) return []
  const message = `The SPF record “${shorten(text)}” at ${name} has no effect: receivers read SPF at ${domain}.`
  return [info(`${message} If it does not come from a wildcard record, remove it.`)]
}

function aliasAdvice({ steps, policyDomain }: DmarcDiscovery): Advice[] {
  const alias = steps.find((step) => step.domain === policyDomain)?.alias ?? null
  if (alias === null) return []
  return [info(`_dmarc.${policyDomain} is an alias for ${alias}. Change the record there.`)]
}

function absenceAdvice(about: About): Advice[] {
  const { discovery, usesMail, receivesMail, registeredDomain, texts } = about
  const { domain, steps, standing, error: failure } = discovery
  if (failure) {
    const failed = steps.find((step) => step.error)?.domain ?? domain
    return [
      error(
        `The DMARC record could not be looked up: the query for _dmarc.${failed} failed (${failure}).`,
      ),
    ]
  }
  // The text in place of the record has advice of its own.
  if (steps.some((step) => step.records.length > 1 || step.texts.some(findNearMiss))) return []
  if (standing === 'nonexistent' && domain === registeredDomain) {
    return [error(`${domain} does not exist in the DNS (NXDOMAIN).`)]
  }
  const [misplaced] = texts.map(parseDmarc).filter((record) => record !== null)
  if (misplaced) {
    const message = `The DMARC record is at ${domain} itself, where receivers do not find it. Publish it at _dmarc.${domain}.`
    return [error(message, createPublish(`_dmarc.${domain}`, misplaced)())]
  }
  if (isPublicSuffix(domain)) {
    const message = `${domain} is a public suffix without a DMARC record. A record with psd=y would apply to domains below it that have none.`
    return [info(message)]
  }
  if (standing !== 'nonexistent' && !usesMail) {
    const message = `${domain} does not use mail, but without a DMARC record anyone can spoof it. Publish p=reject.`
    return [error(message, txtRecord(`_dmarc.${domain}`, 'v=DMARC1; p=reject; adkim=s; aspf=s'))]
  }
  const missing = `${domain} has no DMARC record. Receivers do not know how to treat spoofed mail, and large ones require a record from senders. Start with reports only (p=none), to an address`
  const name = `_dmarc.${registeredDomain}`
  if (!receivesMail && domain === registeredDomain) {
    const message = `${missing} of another domain, because ${domain} receives no mail: rua=mailto:….`
    return [error(message, txtRecord(name, formatDmarc({ p: 'none' })))]
  }
  const rua = `mailto:dmarc-reports@${registeredDomain}`
  return [error(`${missing} that you read.`, txtRecord(name, formatDmarc({ p: 'none', rua })))]
}

/**
 * Whether the domain is a public suffix. A record there is meant for all domains registered below
 * it, not for its own mail.
 */
function isPublicSuffix(domain: string): boolean {
  return registeredOf(domain) === null
}

function inheritanceAdvice({
  domain,
  record,
  policyDomain,
  standing,
  error: failure,
}: DmarcDiscovery): Advice[] {
  const unsure = failure
    ? [
        warning(
          `A name between ${domain} and ${policyDomain} could not be looked up (${failure}), so another record may apply.`,
        ),
      ]
    : []
  if (standing === 'own' || !record) return unsure
  const tag = requestedPolicy(record, standing)?.tag ?? 'p'
  const why =
    standing === 'nonexistent'
      ? 'which does not exist in the DNS'
      : 'which has no record of its own'
  return [
    info(
      `The DMARC record of ${policyDomain} applies to ${domain}, ${why}. Its ${tag} tag decides.`,
    ),
    ...unsure,
  ]
}

function syntaxAdvice(record: DmarcRecord, propose: PublishDmarc): Advice[] {
  const { tags, invalid, errors } = record
  const { unclear } = meaningOf(record)
  const publish = propose()
  const capital = tags.filter(isCapitalTag)
  const known = [...KNOWN_TAGS, ...REMOVED_TAGS, ...capital.map(({ name }) => name)]
  const unknown = tags.filter(({ name }) => !known.includes(name))
  const removed = tags.filter(({ name }) => REMOVED_TAGS.includes(name))
  const advice = errors
    .slice(0, 5)
    .map(({ at, message, isRepeated }) =>
      warning(
        `At character ${at + 1}: ${message}${isRepeated ? '; the first one counts' : ''}.`,
        publish,
      ),
    )
  if (invalid.length > 0) {
    const what = joinItems(invalid.map(({ name, value }) => `${name}=${value}`))
    advice.push(warning(`Invalid values: ${what}.`, publish))
  }
  if (capital.length > 0) {
    const names = joinItems(capital.map(({ name }) => name))
    advice.push(warning(`Receivers may ignore ${names}. Write tag names in lower case.`, publish))
  }
  if (unknown.length > 0) {
    const names = joinItems(unknown.map(({ name }) => name))
    advice.push(info(`Receivers ignore tags that RFC 9989 does not define: ${names}.`, publish))
  }
  if (removed.length > 0)
    advice.push(removedAdvice(record, joinItems(removed.map(({ name }) => name)), publish))
  if (unclear.length > 0)
    advice.push(
      warning(
        `The meaning of the record is not certain (${joinItems(unclear)}), so no record is proposed.`,
      ),
    )
  return advice
}

/** RFC 7489, 6.4 had `p` right behind `v`; RFC 9989, 4.8 leaves the order free. */
function orderAdvice({ tags }: DmarcRecord, propose: PublishDmarc): Advice[] {
  const place = tags.findIndex(({ name }) => name === 'p')
  if (place < 2) return []
  const message =
    'The p tag does not directly follow v=DMARC1. Receivers that follow RFC 7489 may ignore the record.'
  return [info(message, propose())]
}

function removedAdvice(record: DmarcRecord, names: string, publish: Publish | undefined): Advice {
  if (!hasPartialPct(record))
    return info(`RFC 9989 removed ${names}. Receivers ignore it.`, publish)
  const pct = valueOf(record.tags, 'pct')
  return warning(
    `Receivers that follow RFC 9989 ignore pct=${pct} and apply p=${record.p} to all mail. With t=y they apply one level less; older receivers still read pct.`,
    publish,
  )
}

function policyAdvice(
  discovery: DmarcDiscovery,
  record: DmarcRecord,
  propose: PublishDmarc,
  usesMail: boolean,
): Advice[] {
  const requested = requestedPolicy(record, discovery.standing)
  if (!requested) {
    const message =
      'The policy is missing or invalid and there is no valid report address, so receivers ignore the record.'
    return [error(message, propose())]
  }
  if (record.p === null) {
    const message =
      'The record has no valid p tag. Receivers treat it as p=none, and older ones ignore it.'
    return [warning(message, propose())]
  }
  if (isPublicSuffix(discovery.policyDomain ?? discovery.domain)) return testAdvice(record)
  return [
    ...strengthAdvice(discovery, record, { ...requested, propose, usesMail }),
    ...suffixAdvice(discovery.policyDomain ?? discovery.domain, record),
    ...subdomainAdvice(discovery, record, propose),
    ...testAdvice(record),
  ]
}

/** RFC 9989, 4.8. No record is proposed: others may register below a domain that no list names. */
function suffixAdvice(policyDomain: string, { psd }: DmarcRecord): Advice[] {
  if (psd !== 'y') return []
  const message = `psd=y declares ${policyDomain} a public suffix, below which others register domains: its subdomains count as organizations of their own, so their mail is not aligned with ${policyDomain}. Remove psd=y unless that is so.`
  return [warning(message)]
}

/** On the policy that applies to the name that was checked. */
function strengthAdvice(
  discovery: DmarcDiscovery,
  record: DmarcRecord,
  {
    policy,
    tag,
    propose,
    usesMail,
  }: { policy: DmarcPolicy; tag: PolicyTag; propose: PublishDmarc; usesMail: boolean },
): Advice[] {
  // An organization may send mail although the name that was checked does not.
  if (!usesMail && discovery.standing === 'own' && discovery.effectivePolicy !== 'reject') {
    const message = `${discovery.domain} does not use mail. Publish p=reject, so that receivers reject all mail that claims to come from it.`
    return [warning(message, propose(STRICTEST))]
  }
  // What is weaker than p has advice of its own.
  if (policy !== 'none' || record.p !== 'none') return []
  const message = `Not enforced: ${tag}=none only monitors, and spoofed mail is delivered. When reports show that your own mail passes, move to quarantine, then to reject.`
  // Only reports can tell whether a stricter record may be published.
  return [info(message)]
}

function strength(policy: DmarcPolicy | null): number {
  return DMARC_POLICIES.indexOf(policy ?? 'none')
}

/** RFC 9989, 4.7: without `np`, `sp` is also for subdomains that do not exist. */
function weakSubdomains({ p, sp, np }: DmarcRecord): string {
  const isWeak = (policy: DmarcPolicy | null) => strength(policy) < strength(p)
  if (!isWeak(sp ?? p)) return 'subdomains that do not exist'
  return isWeak(np ?? sp) ? 'subdomains, even ones that do not exist' : 'subdomains that exist'
}

function subdomainAdvice(
  { policyDomain, organizationalDomain }: DmarcDiscovery,
  record: DmarcRecord,
  propose: PublishDmarc,
): Advice[] {
  const given = (['sp', 'np'] as const).filter((tag) => record[tag] !== null)
  const weaker = given.filter((tag) => strength(record[tag]) < strength(record.p))
  // RFC 9989, 4.7: both are for the record of an organisation or of a public suffix.
  if (policyDomain !== organizationalDomain && record.psd !== 'y') {
    if (given.length === 0) return []
    const message = `Receivers ignore ${joinItems(given)} here. The policy for subdomains comes from _dmarc.${organizationalDomain}.`
    const isStricter = given.some((tag) => strength(record[tag]) > strength(record.p))
    return [info(message, isStricter ? undefined : propose({ sp: '', np: '' }))]
  }
  if (weaker.length === 0) return []
  const weakTags = weaker.map((tag) => `${tag}=${record[tag]}`).join(' and ')
  const is = weaker.length === 1 ? 'is' : 'are'
  const message = `${weakTags} ${is} weaker than p=${record.p}, so attackers can spoof ${weakSubdomains(record)}. Check that mail from your subdomains passes first.`
  const meant = tagsObject(meaningOf(record).tags)
  const rank = (policy: string | undefined) => strength(strictestPolicy([policy ?? 'none']))
  const removed = (['sp', 'np'] as const).filter((tag) => rank(meant[tag]) < rank(meant['p']))
  return [warning(message, propose(Object.fromEntries(removed.map((tag) => [tag, '']))))]
}

function testAdvice(record: DmarcRecord): Advice[] {
  if (!record.testing || record.p === 'none') return []
  const message = `t=y makes receivers apply one level less than p=${record.p}. Remove it when reports show that your own mail passes.`
  // Only reports can tell whether a stricter record may be published.
  return [info(message)]
}

function addressAdvice(
  policyDomain: string,
  record: DmarcRecord,
  { propose, hasMailbox }: { propose: PublishDmarc; hasMailbox: boolean },
): Advice[] {
  const publish = propose()
  const uris = [...record.rua, ...record.ruf]
  const broken = uris.filter(({ host }) => host === null).map(({ uri }) => `“${uri}”`)
  const sized = uris.filter(({ size }) => size !== null)
  const other = uris
    .filter(({ uri, host }) => host !== null && !/^mailto:/i.test(uri))
    .map(({ uri }) => uri)
  const advice: Advice[] = []
  if (broken.length > 0) {
    advice.push(
      error(
        `Reports cannot be sent to ${joinItems(broken)}. Write addresses as mailto:name@host.`,
        publish,
      ),
    )
  }
  if (sized.length > 0) {
    advice.push(
      info(
        `RFC 9989 removed size limits such as “!${sized[0]?.size}”. Reporters ignore them.`,
        publish,
      ),
    )
  }
  if (other.length > 0)
    advice.push(info(`Few reporters send to addresses other than mailto: ${joinItems(other)}.`))
  if (record.rua.length === 0 && !tagsObject(meaningOf(record).tags)['rua']) {
    const rua = `mailto:dmarc-reports@${policyDomain}`
    const message =
      'The record has no rua address, so you get no aggregate reports about mail sent in the name of the domain.'
    advice.push(warning(message, hasMailbox ? propose({ rua }) : undefined))
  }
  if (record.ruf.length === 0 && valueOf(record.tags, 'fo') !== undefined) {
    advice.push(info('fo has no effect without ruf, the address for failure reports.', publish))
  }
  return advice
}

function consentAdvice({
  name,
  authorized,
  uri,
  error: failure,
  sameByPublicSuffix,
}: Destination): Advice[] {
  if (name === null || authorized) return []
  if (authorized === null) {
    return [
      warning(
        `The permission for ${uri} to receive reports for this domain could not be looked up at ${name} (${failure}).`,
      ),
    ]
  }
  const message = `Reporters do not send to ${uri} until its operator allows it with a record at ${name} (RFC 9990).`
  const publish = txtRecord(name, 'v=DMARC1')
  if (!sameByPublicSuffix) return [error(message, publish)]
  return [
    info(
      `${message} Reporters that follow RFC 7489 send anyway, because both names belong to one registered domain.`,
      publish,
    ),
  ]
}

/**
 * Whether reports can arrive at all: a host without MX gets mail at its own address (RFC 5321,
 * 5.1), if at all.
 */
function mailboxAdvice(destinations: Destination[]): Advice[] {
  return destinations.flatMap(({ uri, mailbox, error: consentError }) => {
    if (!mailbox) return []
    const { host, use } = mailbox
    // It may have a typing error, which is its owner's to correct: no proposal is without it.
    if (use.receives === 'nothing')
      return [
        error(
          `Reports to ${uri} cannot be delivered: ${host} does not receive mail. Correct the address.`,
        ),
      ]
    if (use.receives === 'address') {
      return [
        info(
          `${host} has no MX record, so reports to ${uri} go to the host itself. Publish an MX record there.`,
        ),
      ]
    }
    if (use.receives !== 'unknown' || consentError) return []
    return [
      warning(`The mail servers of ${host} for ${uri} could not be looked up (${use.error}).`),
    ]
  })
}
