import type { ChannelState } from '../alerts/channels/channel-states.ts'
import type { PendingReviews } from '../abuse/pending-reviews.ts'
import type { OpenDelisting, OpenDelistings } from '../delisting/delistings.sql.ts'
import type { FailingMailbox } from '../dmarc/dmarc-digest.sql.ts'
import type { UnverifiedDomain } from '../dmarc/domains/dmarc-domains.sql.ts'
import type { DomainSummary } from '../domains/shapes.ts'
import type { FailedMigration } from '../migration/migrations.sql.ts'
import { certificateSeverity } from '../monitoring/certificates/messages.ts'
import type { ProblemHosts } from '../monitoring/list/problem-hosts.ts'
import type { Bounded } from '../store/bounded.ts'
import { actions, certificateSentence, hostNames, sentences } from './messages.ts'
import type { Problem } from './shapes.ts'

/** What the modules know that may be a problem: the worst of each kind. */
export type ProblemData = {
  /** Watched domains with a bad state. */
  domains: Bounded<DomainSummary>
  hosts: ProblemHosts
  delistings: OpenDelistings
  /** Migrations that failed lately, without dry runs. */
  migrations: Bounded<FailedMigration>
  mailboxes: FailingMailbox[]
  channels: ChannelState[]
  unverified: Bounded<UnverifiedDomain>
  /** Null for callers who are no administrators. */
  reviews: PendingReviews | null
}

/** A problem before its address in the service is known. */
export type FoundProblem = Omit<Problem, 'url'>

/** Problems, which are counted; what is left of the set-up; and what administrators have to decide. */
export type FoundProblems = Record<'problems' | 'setup' | 'administration', FoundProblem[]>

/** Finds what needs a person, the worst first: one entry for each cause. */
export function findProblems(data: ProblemData): FoundProblems {
  const listed = listedAddresses(data)
  const { domains, migrations, delistings } = data
  const broken = domains.rows.filter(isBroken)
  const waiting = delistings.rows.filter(({ steps }) => steps > 0)
  const problems = [
    ...listed,
    ...broken.map(brokenDomain),
    ...further('domains', domains.total - domains.rows.length),
    ...failingCertificates(data.hosts, broken),
    ...migrations.rows.map(failedMigration),
    ...further('migrations', migrations.total - migrations.rows.length),
    ...data.mailboxes.map(failingMailbox),
    ...channelProblems(data.channels),
    // A delisting that waits is the same problem as the listing.
    ...waiting.filter(({ ip }) => !listed.some(({ key }) => key === ip)).map(waitingDelisting),
    ...further('delistings', delistings.waiting - waiting.length),
  ]
  return {
    problems: problems.toSorted(
      (one, other) => Number(one.tone === 'warn') - Number(other.tone === 'warn'),
    ),
    setup: unverifiedDomains(data.unverified),
    administration: data.reviews ? administrationProblems(data.reviews) : [],
  }
}

/** The number of problems, with those that a single entry stands for. */
export function countProblems(problems: readonly Pick<Problem, 'count'>[]): number {
  return problems.reduce((sum, { count = 1 }) => sum + count, 0)
}

/** The entry for problems that were not read. */
const FURTHER = {
  hosts: ['bad', sentences.moreListedHosts, actions.viewHosts, '/monitoring?status=listed'],
  domains: ['bad', sentences.moreDomains, actions.viewDomains, '/domains'],
  certificates: ['warn', sentences.moreCertificates, actions.viewHosts, '/monitoring'],
  migrations: ['bad', sentences.moreMigrations, actions.viewMigrations, '/migrations'],
  delistings: ['warn', sentences.moreDelistings, actions.viewDelistings, '/delisting'],
} as const

/** @param count of problems that were not read, beside those that have entries of their own */
function further(key: keyof typeof FURTHER, count: number): FoundProblem[] {
  if (count <= 0) return []
  const [tone, sentence, action, path] = FURTHER[key]
  return [{ key, tone, sentence: sentence(count), action, path, count }]
}

type Host = ProblemHosts['rows'][number]

/** One problem for each listed address, however many hosts and domains it affects. */
function listedAddresses({
  hosts: { rows, counts },
  domains,
  delistings,
}: ProblemData): FoundProblem[] {
  const listed = rows.filter(({ status }) => status === 'listed')
  const byAddress = Map.groupBy(listed, ({ id, listedIps }) => listedIps.join(' ') || id)
  const shown = [...byAddress].map(([key, hosts]) => {
    const ids = new Set(hosts.map(({ id }) => id))
    const affected = domains.rows.filter((domain) => domain.hosts.some(({ id }) => ids.has(id)))
    return listedAddress(key, hosts, affected.length, delistings.rows)
  })
  return [...shown, ...further('hosts', counts.listed - listed.length)]
}

function listedAddress(
  key: string,
  hosts: Host[],
  domains: number,
  delistings: OpenDelisting[],
): FoundProblem {
  const [first] = hosts as [Host, ...Host[]]
  const [ip, ...others] = first.listedIps
  const name = ip !== undefined && others.length === 0 ? ip : first.host
  const count = Math.max(...hosts.map(({ listedCount }) => listedCount))
  const sentence =
    hosts.length === 1 && domains === 0
      ? sentences.listedHost(first.host, count)
      : sentences.listedAddress(name, count, hosts.length, domains)
  return { key, tone: 'bad', sentence, ...nextStep(first, delistings) }
}

/** What to do about a listed host: its delisting, or the list where several addresses are listed. */
function nextStep(
  { id, listedIps }: Host,
  delistings: OpenDelisting[],
): Pick<FoundProblem, 'action' | 'path'> {
  const [ip, ...others] = listedIps
  const open = delistings.find((delisting) => delisting.ip === ip)
  if (open && open.steps > 0)
    return { action: actions.continueDelisting, path: `/delisting/${open.id}` }
  if (!open && ip !== undefined && others.length === 0)
    return { action: actions.startDelisting, path: `/delisting/new?ip=${encodeURIComponent(ip)}` }
  return { action: actions.viewListings, path: `/monitoring/${id}` }
}

const TONES = { critical: 'bad', error: 'bad', warning: 'warn', info: null } as const

/**
 * One problem for each way in which certificates fail, without those of domains whose problem they
 * are already.
 */
function failingCertificates(
  { rows, counts }: ProblemHosts,
  broken: readonly DomainSummary[],
): FoundProblem[] {
  const named = new Set(
    broken
      .filter(({ stages }) => stages?.some(({ name, state }) => name === 'tls' && state === 'bad'))
      .flatMap(({ hosts }) => hosts.map(({ id }) => id)),
  )
  const all = rows.flatMap(({ id, host, certificate }) => {
    const tone = certificate && TONES[certificateSeverity(certificate.state)]
    return tone ? [{ id, host, tone, certificate }] : []
  })
  const failing = all.filter(({ id }) => !named.has(id))
  const alike = Map.groupBy(failing, ({ certificate }) => certificateSentence(certificate, ''))
  const shown = [...alike].map(([key, same]): FoundProblem => {
    const [{ id, tone, certificate }] = same as [(typeof failing)[number]]
    const sentence = certificateSentence(certificate, hostNames(same.map(({ host }) => host)))
    const next =
      same.length === 1
        ? { action: actions.viewHost, path: `/monitoring/${id}` }
        : { action: actions.viewHosts, path: '/monitoring' }
    return { key: `certificate ${key}`, tone, sentence, ...next }
  })
  return [...shown, ...further('certificates', counts.certificateProblems - all.length)]
}

/** A domain is a problem of its own unless a listed host, a problem already, is its only one. */
function isBroken({ state, stages, hosts }: DomainSummary): boolean {
  const isListed = hosts.some(({ status }) => status === 'listed')
  const isOther = stages?.some((stage) => stage.state === 'bad' && stage.name !== 'reputation')
  return state === 'bad' && (!isListed || isOther === true)
}

function brokenDomain({ domain, sentence }: DomainSummary): FoundProblem {
  return {
    key: domain,
    tone: 'bad',
    sentence: sentence ?? sentences.brokenDomain(domain),
    action: actions.viewDomain,
    path: `/domains/${domain}`,
  }
}

function failedMigration({ id, user, errorCount }: FailedMigration): FoundProblem {
  return {
    key: id,
    tone: 'bad',
    sentence: sentences.failedMigration(user, errorCount),
    action: actions.reviewMigration,
    path: `/migrations/${id}`,
  }
}

function waitingDelisting({ id, ip, steps }: OpenDelisting): FoundProblem {
  return {
    key: id,
    tone: 'warn',
    sentence: sentences.delisting(ip, steps),
    action: actions.continueDelisting,
    path: `/delisting/${id}`,
  }
}

function failingMailbox({ id, username, host }: FailingMailbox): FoundProblem {
  return {
    key: id,
    tone: 'bad',
    sentence: sentences.failingMailbox(username, host),
    action: actions.viewMailbox,
    path: '/dmarc/mailboxes',
  }
}

const CHANNEL_PROBLEMS: Partial<
  Record<ChannelState['status'], [Problem['tone'], sentence: (target: string) => string]>
> = {
  unconfirmed: ['warn', sentences.unconfirmedChannel],
  disabled: ['bad', sentences.disabledChannel],
  undeliverable: ['bad', sentences.undeliverableChannel],
}

/** An email channel that cannot deliver is no problem while another channel works. */
function channelProblems(channels: ChannelState[]): FoundProblem[] {
  const isReachable = channels.some(({ status }) => status === 'active')
  return channels
    .filter(({ status }) => !(isReachable && status === 'undeliverable'))
    .flatMap(({ id, status, target }) => {
      const [tone, sentenceOf] = CHANNEL_PROBLEMS[status] ?? []
      if (!tone || !sentenceOf) return []
      const next = { action: actions.viewChannels, path: '/alerts/channels' }
      return [{ key: id, tone, sentence: sentenceOf(target), ...next }]
    })
}

/** Unverified domains are work that is left, and one entry however many they are. */
function unverifiedDomains({ rows: [first], total }: Bounded<UnverifiedDomain>): FoundProblem[] {
  if (!first) return []
  return [
    total > 1
      ? {
          key: 'unverified',
          tone: 'warn',
          sentence: sentences.unverifiedDomains(total),
          action: actions.viewDomains,
          path: '/dmarc',
        }
      : {
          key: first.id,
          tone: 'warn',
          sentence: sentences.unverifiedDomain(first.domain),
          action: actions.viewRecord,
          path: `/dmarc/${first.id}/record`,
        },
  ]
}

function administrationProblems({ isOnHold, appeals, candidates }: PendingReviews): FoundProblem[] {
  const entry = (key: string, sentence: string): FoundProblem => ({
    key,
    tone: 'warn',
    sentence,
    action: actions.review,
    path: '/attacks/administration',
  })
  return [
    ...(isOnHold ? [entry('hold', sentences.heldList)] : []),
    ...(appeals > 0 ? [entry('appeals', sentences.appeals(appeals))] : []),
    ...(candidates > 0 ? [entry('candidates', sentences.candidates(candidates))] : []),
  ]
}
