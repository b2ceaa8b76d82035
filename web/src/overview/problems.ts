import type { LinkProps } from '@tanstack/react-router'
import type { Alert, Channel } from '../alerts/api.ts'
import { targetOf } from '../alerts/targets.ts'
import type { Appeals, Hold } from '../attacks/api.ts'
import type { Delisting } from '../delisting/api.ts'
import { stepsNeedingAction } from '../delisting/delisting-status.ts'
import type { DomainSummary } from '../domains/api.ts'
import type { ReportDomain, ReportMailbox } from '../dmarc/api.ts'
import { isMigrationOpen, type Listed } from '../migrations/api.ts'
import type { Host, HostPage } from '../monitoring/api.ts'
import { certificateState } from '../monitoring/messages.ts'
import { problems as messages, overview } from './messages.ts'

/** Something that needs the user, and the screen to do it on. Objects with the same cause are one. */
export type Problem = {
  key: string
  tone: 'bad' | 'warn'
  sentence: string
  /** The label of its button. */
  action: string
  link: Pick<LinkProps, 'to' | 'params' | 'search'>
  /** Problems that it stands for, where it is not one. */
  count?: number
}

/** The first hosts, those with problems first, and the counts of all. */
export type OverviewHosts = Pick<HostPage, 'rows' | 'counts'>

export const NO_HOSTS: OverviewHosts = {
  rows: [],
  counts: { pending: 0, clean: 0, listed: 0, unknown: 0, certificateProblems: 0 },
}

export type OverviewDomains = { domains: DomainSummary[]; total: number }

/**
 * The objects of all modules that may have problems. Appeals, a held list and candidates are loaded for administrators
 * only.
 */
export type ProblemData = {
  /** The first watched domains, those with problems first, and how many there are. */
  watched: OverviewDomains
  hosts: OverviewHosts
  cases: Delisting[]
  migrations: Listed[]
  domains: ReportDomain[]
  mailboxes: ReportMailbox[]
  channels: Channel[]
  appeals: Appeals['appeals']
  hold: Hold
  /** Number of addresses that an administrator has to list or discard. */
  candidates: number
}

export type OverviewData = ProblemData & {
  /** The latest alerts. */
  alerts: Alert[]
}

/** Days for which a failed migration counts as an problem. */
const FAILED_MIGRATION_DAYS = 14

/** What needs the user: problems, which are counted; what is left of the set-up; and, for administrators, of the service. */
export type Found = { problems: Problem[]; setup: Problem[]; administration: Problem[] }

/** Finds what needs the user, the worst first: one entry for each cause. */
export function findProblems(data: ProblemData, now = Date.now()): Found {
  const isRecent = ({ createdAt }: Listed) =>
    now - Date.parse(createdAt) < FAILED_MIGRATION_DAYS * 86_400_000
  const listed = listedAddresses(data)
  const problems = [
    ...listed,
    ...data.watched.domains.filter(isBroken).map(brokenDomain),
    ...failingCertificates(data.hosts, data.watched.domains.filter(isBroken)),
    ...data.migrations
      .filter((it) => it.status === 'failed' && !it.dryRun && isRecent(it))
      .map(failedMigration),
    ...data.mailboxes.filter(({ failingSince }) => failingSince !== null).map(failingMailbox),
    ...channelProblems(data.channels),
    // A delisting that waits is the same problem as the listing.
    ...data.cases.filter(({ ip }) => !listed.some(({ key }) => key === ip)).flatMap(waitingCase),
  ]
  return {
    problems: problems.toSorted(
      (one, other) => Number(one.tone === 'warn') - Number(other.tone === 'warn'),
    ),
    setup: unverifiedDomains(data.domains.filter(({ verified }) => !verified)),
    administration: administrationProblems(data),
  }
}

/** One problem for each listed address, however many hosts and domains it affects. */
function listedAddresses({ hosts: { rows, counts }, watched, cases }: ProblemData): Problem[] {
  const listed = rows.filter(({ status }) => status === 'listed')
  const byAddress = Map.groupBy(listed, ({ id, listedIps }) => listedIps.join(' ') || id)
  const shown = [...byAddress].map(([key, hosts]) => {
    const ids = new Set(hosts.map(({ id }) => id))
    const domains = watched.domains.filter((domain) => domain.hosts.some(({ id }) => ids.has(id)))
    return listedAddress(key, hosts, domains.length, cases)
  })
  const more = counts.listed - listed.length
  if (more <= 0) return shown
  const link = { to: '/monitoring', search: { status: 'listed' } } as const
  const sentence = messages.moreListedHosts(more)
  return [
    ...shown,
    { key: 'hosts', tone: 'bad', sentence, action: messages.viewHosts, link, count: more },
  ]
}

function listedAddress(key: string, hosts: Host[], domains: number, cases: Delisting[]): Problem {
  const [first] = hosts as [Host, ...Host[]]
  const [ip, ...others] = first.listedIps
  const name = ip !== undefined && others.length === 0 ? ip : first.host
  const count = Math.max(...hosts.map(({ listedCount }) => listedCount))
  const sentence =
    hosts.length === 1 && domains === 0
      ? messages.listedHost(first.host, count)
      : messages.listedAddress(name, count, hosts.length, domains)
  return { key, tone: 'bad', sentence, ...nextStep(first, cases) }
}

/** What to do about a listed host: its delisting, or the list where several addresses are listed. */
function nextStep({ id, listedIps }: Host, cases: Delisting[]): Pick<Problem, 'action' | 'link'> {
  const [ip, ...others] = listedIps
  const open = cases.find((it) => it.ip === ip && isOpen(it))
  if (open && stepsNeedingAction(open).length > 0)
    return {
      action: messages.continueDelisting,
      link: { to: '/delisting/$id', params: { id: open.id } },
    }
  if (!open && ip !== undefined && others.length === 0)
    return { action: messages.startDelisting, link: { to: '/delisting/new', search: { ip } } }
  return { action: messages.viewListings, link: { to: '/monitoring/$id', params: { id } } }
}

/**
 * One problem for each way in which certificates fail, without those of domains whose problem they
 * are already.
 */
function failingCertificates(
  { rows, counts }: OverviewHosts,
  broken: readonly DomainSummary[],
): Problem[] {
  const named = new Set(
    broken
      .filter(({ stages }) => stages?.some(({ name, state }) => name === 'tls' && state === 'bad'))
      .flatMap(({ hosts }) => hosts.map(({ id }) => id)),
  )
  const all = rows.flatMap(({ certificate, ...host }) => {
    const tone = certificate === null ? 'good' : certificateState(certificate.state).tone
    if (certificate === null || (tone !== 'bad' && tone !== 'warn')) return []
    return [{ host, tone, sentence: messages.certificate(certificate) } as const]
  })
  const failing = all.filter(({ host }) => !named.has(host.id))
  const shown = [...Map.groupBy(failing, ({ sentence }) => sentence(''))].map(
    ([key, same]): Problem => {
      const [{ host, tone, sentence }] = same as [(typeof failing)[number]]
      return {
        key: `certificate ${key}`,
        tone,
        sentence: sentence(messages.hostNames(same.map((one) => one.host.host))),
        ...(same.length === 1
          ? {
              action: messages.viewHost,
              link: { to: '/monitoring/$id', params: { id: host.id } } as const,
            }
          : { action: messages.viewHosts, link: { to: '/monitoring' } as const }),
      }
    },
  )
  const more = counts.certificateProblems - all.length
  if (more <= 0) return shown
  const link = { to: '/monitoring' } as const
  const sentence = messages.moreCertificates(more)
  return [
    ...shown,
    { key: 'certificates', tone: 'warn', sentence, action: messages.viewHosts, link, count: more },
  ]
}

/** A domain is a problem of its own unless a listed host, an problem already, is its only one. */
function isBroken({ state, stages, hosts }: DomainSummary): boolean {
  const isListed = hosts.some(({ status }) => status === 'listed')
  const isOther = stages?.some((stage) => stage.state === 'bad' && stage.name !== 'reputation')
  return state === 'bad' && (!isListed || isOther === true)
}

function brokenDomain({ domain, sentence }: DomainSummary): Problem {
  return {
    key: domain,
    tone: 'bad',
    sentence: sentence ?? messages.brokenDomain(domain),
    action: messages.viewDomain,
    link: { to: '/domains/$domain', params: { domain } },
  }
}

function failedMigration({ migrationId: id, srcUser, errorCount }: Listed): Problem {
  return {
    key: id,
    tone: 'bad',
    sentence: messages.failedMigration(srcUser, errorCount),
    action: messages.reviewMigration,
    link: { to: '/migrations/$id', params: { id } },
  }
}

function waitingCase(it: Delisting): Problem[] {
  const waiting = stepsNeedingAction(it).length
  if (waiting === 0) return []
  return [
    {
      key: it.id,
      tone: 'warn',
      sentence: messages.delisting(it.ip, waiting),
      action: messages.continueDelisting,
      link: { to: '/delisting/$id', params: { id: it.id } },
    },
  ]
}

function failingMailbox({ id, user, host }: ReportMailbox): Problem {
  return {
    key: id,
    tone: 'bad',
    sentence: messages.failingMailbox(user, host),
    action: messages.viewMailbox,
    link: { to: '/dmarc/mailboxes' },
  }
}

const CHANNEL_PROBLEMS: Partial<
  Record<Channel['status'], [Problem['tone'], sentence: (target: string) => string]>
> = {
  unconfirmed: ['warn', messages.unconfirmedChannel],
  disabled: ['bad', messages.disabledChannel],
  undeliverable: ['bad', messages.undeliverableChannel],
}

/** An email channel that cannot deliver is no problem while another channel works. */
function channelProblems(channels: Channel[]): Problem[] {
  const isReachable = channels.some(({ status }) => status === 'active')
  return channels
    .filter(({ status }) => !(isReachable && status === 'undeliverable'))
    .flatMap(channelProblem)
}

function channelProblem(channel: Channel): Problem[] {
  const problem = CHANNEL_PROBLEMS[channel.status]
  if (!problem) return []
  const [tone, describe] = problem
  const sentence = describe(targetOf(channel))
  return [
    {
      key: channel.id,
      tone,
      sentence,
      action: messages.viewChannels,
      link: { to: '/alerts/channels' },
    },
  ]
}

/** Unverified domains are work that is left, and one line however many they are. */
function unverifiedDomains(domains: ReportDomain[]): Problem[] {
  const [first, ...others] = domains
  if (!first) return []
  const { id, domain } = first
  if (others.length > 0)
    return [
      {
        key: 'unverified',
        tone: 'warn',
        sentence: messages.unverifiedDomains(domains.length),
        action: messages.viewDomains,
        link: { to: '/dmarc' },
      },
    ]
  return [
    {
      key: id,
      tone: 'warn',
      sentence: messages.unverifiedDomain(domain),
      action: messages.viewRecord,
      link: { to: '/dmarc/$id/record', params: { id } },
    },
  ]
}

function administrationProblems({ appeals, hold, candidates }: ProblemData): Problem[] {
  const link = { to: '/attacks/administration' } as const
  const open = appeals.filter(({ status }) => status === 'open').length
  const held = messages.heldList
  return [
    ...(hold && !hold.approved
      ? [{ key: 'hold', tone: 'warn', sentence: held, action: messages.review, link } as const]
      : []),
    ...(open > 0
      ? [
          {
            key: 'appeals',
            tone: 'warn',
            sentence: messages.appeals(open),
            action: messages.review,
            link,
          } as const,
        ]
      : []),
    ...(candidates > 0
      ? [
          {
            key: 'candidates',
            tone: 'warn',
            sentence: messages.candidates(candidates),
            action: messages.review,
            link,
          } as const,
        ]
      : []),
  ]
}

/** The number of problems, with those that a single one stands for. */
export function countProblems(problems: readonly Problem[]): number {
  return problems.reduce((sum, { count = 1 }) => sum + count, 0)
}

/** `2 problems need your attention`, the title of the overview. */
export function problemsTitle(problems: readonly Problem[]): string {
  return overview.problemCount(countProblems(problems))
}

const isOpen = ({ status }: Delisting) => status === 'pending' || status === 'in-progress'

/** Migrations and delistings that run without the user. */
export function findInProgress({ cases, migrations }: Pick<ProblemData, 'cases' | 'migrations'>): {
  cases: Delisting[]
  migrations: Listed[]
} {
  const isRunning = (it: Delisting) => isOpen(it) && stepsNeedingAction(it).length === 0
  return { cases: cases.filter(isRunning), migrations: migrations.filter(isMigrationOpen) }
}
