// What the digest shows of DMARC domains. Each query reads one workspace and returns a bounded list.
import { sql } from 'kysely'
import { boundedOf, type Bounded } from '../store/bounded.ts'
import type { Db } from '../store/database.ts'
import type { DayRange } from './summary/dmarc-summary.sql.ts'

/** Two ranges of the same length, the second one right before the first. */
export type ComparedDays = { now: DayRange; before: DayRange }

export type DomainComparison = {
  id: string
  domain: string
  messages: number
  passed: number
  messagesBefore: number
  passedBefore: number
}

export type ChangedSource = {
  domainId: string
  source: string
  reverseName: string | null
  confirmed: boolean
  messages: number
  passed: number
  /** Whether the domain had no messages from this source before, or its messages began to fail. */
  change: 'new' | 'failing'
  /** How many sources of the domain changed in this way. */
  total: number
}

export type SilentDomain = { id: string; domain: string; lastReportAt: Date }
export type FailingMailbox = {
  id: string
  username: string
  host: string
  failingSince: Date
  lastError: string
}
export type UnprovenDomain = { id: string; domain: string; unprovenSince: Date }

/** Verified domains, those with most failed messages first. */
export async function compareDomains(
  db: Db,
  workspaceId: string,
  { now, before }: ComparedDays,
  limit: number,
): Promise<Bounded<DomainComparison>> {
  const { rows } = await sql<DomainComparison & { total: number }>`
    select d.id, d.domain, count(*) over ()::int as total,
      coalesce(s.messages, 0)::float8 as messages, coalesce(s.passed, 0)::float8 as passed,
      coalesce(s.messages_before, 0)::float8 as messages_before, coalesce(s.passed_before, 0)::float8 as passed_before
    from dmarc_domain d left join lateral (
      select sum(messages) filter (where day >= ${now.from}) as messages,
        sum(aligned) filter (where day >= ${now.from}) as passed,
        sum(messages) filter (where day < ${now.from}) as messages_before,
        sum(aligned) filter (where day < ${now.from}) as passed_before
      from dmarc_reporter_day where domain_id = d.id and day between ${before.from} and ${now.to}) s on true
    where d.workspace_id = ${workspaceId} and d.verified_at is not null
    order by coalesce(s.messages - s.passed, 0) desc, coalesce(s.messages, 0) desc, d.domain limit ${limit}`.execute(
    db,
  )
  return boundedOf(rows)
}

export type SourceChangeLimits = {
  perDomain: number
  /** Messages below which a source does not count as one that began to fail. */
  minMessages: number
  /** Days before the ranges in which a source was unknown. */
  unknownDays: number
}

/**
 * Sources that are new, and sources whose messages passed before and fail now; most messages first.
 * New sources count when they have a message that passed: all others are spoofed mail.
 */
export async function listChangedSources(
  db: Db,
  domainIds: string[],
  { now, before }: ComparedDays,
  { perDomain, minMessages, unknownDays }: SourceChangeLimits,
): Promise<ChangedSource[]> {
  if (domainIds.length === 0) return []
  const { rows } = await sql<ChangedSource>`
    with summed as (
      select domain_id, source,
        sum(messages) filter (where day >= ${now.from}) as messages, sum(aligned) filter (where day >= ${now.from}) as passed,
        sum(messages) filter (where day < ${now.from}) as messages_before, sum(aligned) filter (where day < ${now.from}) as passed_before
      from dmarc_source_day where domain_id = any(${domainIds}) and day between ${before.from} and ${now.to}
      group by domain_id, source),
    changed as (
      select *, 'new' as change from summed s where passed > 0 and messages_before is null and not exists (
        select from dmarc_source_month m where m.domain_id = s.domain_id and m.source = s.source
          and m.month > ${before.from}::date - ${unknownDays}::int and m.first_day < ${now.from})
      union all
      select *, 'failing' from summed where messages - passed >= ${minMessages} and passed <= messages * 0.5
        and messages_before >= ${minMessages} and passed_before >= messages_before * 0.9),
    ranked as (
      select *, row_number() over (partition by domain_id, change order by messages desc, source) as place,
        count(*) over (partition by domain_id, change)::int as total
      from changed)
    select r.domain_id, host(r.source) as source, r.change, r.total, r.messages::float8 as messages,
      r.passed::float8 as passed, a.reverse_name, coalesce(a.confirmed, false) as confirmed
    from ranked r left join dmarc_address a on a.address = r.source
    where place <= ${perDomain} order by r.domain_id, r.change desc, place`.execute(db)
  return rows
}

export type SilenceLimits = {
  /** Reports on this many of the 14 days up to the last report, and none for so many days since. */
  reportDays: number
  silentDays: number
  /** Days after which a domain counts as one that is no longer used. */
  forgottenDays: number
}

/** Domains that got reports regularly and no longer do, the latest first. */
export async function listSilentDomains(
  db: Db,
  workspaceId: string,
  now: Date,
  { reportDays, silentDays, forgottenDays }: SilenceLimits,
  limit: number,
): Promise<Bounded<SilentDomain>> {
  const { rows } = await sql<SilentDomain & { total: number }>`
    select d.id, d.domain, d.last_report_at, count(*) over ()::int as total from dmarc_domain d
    where d.workspace_id = ${workspaceId} and d.verified_at is not null
      and d.last_report_at < ${now}::timestamptz - make_interval(days => ${silentDays})
      and d.last_report_at > ${now}::timestamptz - make_interval(days => ${forgottenDays})
      and ${reportDays} <= (
        select count(distinct day) from dmarc_reporter_day r where r.domain_id = d.id
          and r.day > d.last_report_at::date - 15 and r.day <= d.last_report_at::date)
    order by d.last_report_at desc, d.id limit ${limit}`.execute(db)
  return boundedOf(rows)
}

/** Report mailboxes whose last fetch failed. */
export async function listFailingMailboxes(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<Bounded<FailingMailbox>> {
  const { rows } = await sql<FailingMailbox & { total: number }>`
    select id, username, host, failing_since, coalesce(last_error, '') as last_error, count(*) over ()::int as total
    from dmarc_mailbox where workspace_id = ${workspaceId} and failing_since is not null
    order by failing_since, id limit ${limit}`.execute(db)
  return boundedOf(rows)
}

/** Verified domains whose proof is no longer published. */
export async function listUnprovenDomains(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<Bounded<UnprovenDomain>> {
  const { rows } = await sql<UnprovenDomain & { total: number }>`
    select id, domain, unproven_since, count(*) over ()::int as total from dmarc_domain
    where workspace_id = ${workspaceId} and verified_at is not null and unproven_since is not null
    order by unproven_since, id limit ${limit}`.execute(db)
  return boundedOf(rows)
}
