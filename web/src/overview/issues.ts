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
import { certificateFact, certificateState } from '../monitoring/messages.ts'
import { issues as messages, overview } from './messages.ts'

/** Something that needs the user, and the screen to do it on. */
export type Issue = {
  key: string
  tone: 'bad' | 'warn'
  sentence: string
  /** The label of its button. */
  action: string
  link: Pick<LinkProps, 'to' | 'params' | 'search'>
  /** Issues that it stands for, where it is not one. */
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
 * The objects of all modules that may have issues. Appeals, a held list and candidates are loaded for administrators
 * only.
 */
export type IssueData = {
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

export type OverviewData = IssueData & {
  /** The latest alerts. */
  alerts: Alert[]
}

/** Days for which a failed migration counts as an issue. */
const FAILED_MIGRATION_DAYS = 14

/** The issues that need the user, the worst first. */
export function findIssues(data: IssueData, now = Date.now()): Issue[] {
  const isRecent = ({ createdAt }: Listed) =>
    now - Date.parse(createdAt) < FAILED_MIGRATION_DAYS * 86_400_000
  const issues = [
    ...listedHosts(data.hosts),
    ...data.watched.domains.filter(isBroken).map(brokenDomain),
    ...failingCertificates(data.hosts),
    ...data.migrations
      .filter((it) => it.status === 'failed' && !it.dryRun && isRecent(it))
      .map(failedMigration),
    ...data.mailboxes.filter(({ failingSince }) => failingSince !== null).map(failingMailbox),
    ...channelIssues(data.channels),
    ...data.cases.flatMap(waitingCase),
    ...data.domains.filter(({ verified }) => !verified).map(unverifiedDomain),
    ...administrationIssues(data),
  ]
  return issues.toSorted(
    (one, other) => Number(one.tone === 'warn') - Number(other.tone === 'warn'),
  )
}

function listedHosts({ rows, counts }: OverviewHosts): Issue[] {
  const shown = rows.filter(({ status }) => status === 'listed').map(listedHost)
  const more = counts.listed - shown.length
  if (more <= 0) return shown
  const link = { to: '/monitoring', search: { status: 'listed' } } as const
  const sentence = messages.moreListedHosts(more)
  return [
    ...shown,
    { key: 'hosts', tone: 'bad', sentence, action: messages.viewHosts, link, count: more },
  ]
}

function failingCertificates({ rows, counts }: OverviewHosts): Issue[] {
  const shown = rows.flatMap(failingCertificate)
  const more = counts.certificateProblems - shown.length
  if (more <= 0) return shown
  const link = { to: '/monitoring' } as const
  const sentence = messages.moreCertificates(more)
  return [
    ...shown,
    { key: 'certificates', tone: 'warn', sentence, action: messages.viewHosts, link, count: more },
  ]
}

function listedHost({ id, host, listedCount }: Host): Issue {
  return {
    key: id,
    tone: 'bad',
    sentence: messages.listedHost(host, listedCount),
    action: messages.viewListings,
    link: { to: '/monitoring/$id', params: { id } },
  }
}

/** A domain is a problem of its own unless a listed host, an issue already, is its only one. */
function isBroken({ state, stages, hosts }: DomainSummary): boolean {
  const isListed = hosts.some(({ status }) => status === 'listed')
  const isOther = stages?.some((stage) => stage.state === 'bad' && stage.name !== 'reputation')
  return state === 'bad' && (!isListed || isOther === true)
}

function brokenDomain({ domain, sentence }: DomainSummary): Issue {
  return {
    key: domain,
    tone: 'bad',
    sentence: sentence ?? messages.brokenDomain(domain),
    action: messages.viewDomain,
    link: { to: '/domains/$domain', params: { domain } },
  }
}

function failingCertificate({ id, host, certificate }: Host): Issue[] {
  const tone = certificate === null ? 'good' : certificateState(certificate.state).tone
  if (certificate === null || (tone !== 'bad' && tone !== 'warn')) return []
  return [
    {
      key: `${id} certificate`,
      tone,
      sentence: messages.certificate(host, certificateFact(certificate)),
      action: messages.viewHost,
      link: { to: '/monitoring/$id', params: { id } },
    },
  ]
}

function failedMigration({ migrationId: id, srcUser, errorCount }: Listed): Issue {
  return {
    key: id,
    tone: 'bad',
    sentence: messages.failedMigration(srcUser, errorCount),
    action: messages.reviewMigration,
    link: { to: '/migrations/$id', params: { id } },
  }
}

function waitingCase(it: Delisting): Issue[] {
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

function failingMailbox({ id, user, host }: ReportMailbox): Issue {
  return {
    key: id,
    tone: 'bad',
    sentence: messages.failingMailbox(user, host),
    action: messages.viewMailbox,
    link: { to: '/dmarc/mailboxes' },
  }
}

const CHANNEL_ISSUES: Partial<
  Record<Channel['status'], [Issue['tone'], sentence: (target: string) => string]>
> = {
  unconfirmed: ['warn', messages.unconfirmedChannel],
  disabled: ['bad', messages.disabledChannel],
  undeliverable: ['bad', messages.undeliverableChannel],
}

/** An email channel that cannot deliver is no issue while another channel works. */
function channelIssues(channels: Channel[]): Issue[] {
  const isReachable = channels.some(({ status }) => status === 'active')
  return channels
    .filter(({ status }) => !(isReachable && status === 'undeliverable'))
    .flatMap(channelIssue)
}

function channelIssue(channel: Channel): Issue[] {
  const issue = CHANNEL_ISSUES[channel.status]
  if (!issue) return []
  const [tone, describe] = issue
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

function unverifiedDomain({ id, domain }: ReportDomain): Issue {
  return {
    key: id,
    tone: 'warn',
    sentence: messages.unverifiedDomain(domain),
    action: messages.viewRecord,
    link: { to: '/dmarc/$id/record', params: { id } },
  }
}

function administrationIssues({ appeals, hold, candidates }: IssueData): Issue[] {
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

/** The number of issues, with those that a single one stands for. */
export function countIssues(issues: readonly Issue[]): number {
  return issues.reduce((sum, { count = 1 }) => sum + count, 0)
}

/** `2 issues need your attention`, the title of the overview. */
export function issuesTitle(issues: readonly Issue[]): string {
  return overview.issueCount(countIssues(issues))
}

/** Migrations and delistings that run without the user. */
export function findInProgress({ cases, migrations }: Pick<IssueData, 'cases' | 'migrations'>): {
  cases: Delisting[]
  migrations: Listed[]
} {
  const isRunning = (it: Delisting) =>
    (it.status === 'pending' || it.status === 'in-progress') && stepsNeedingAction(it).length === 0
  return { cases: cases.filter(isRunning), migrations: migrations.filter(isMigrationOpen) }
}
