import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import type { Campaign } from './campaign.ts'

export type AddressRow = {
  workspaceId: string
  mailbox: string
  otherMails: number
  otherFrom: string | null
  otherSubject: string | null
  otherAt: Date | null
  createdAt: Date
}

const ADDRESS = [
  'workspaceId',
  'mailbox',
  'otherMails',
  'otherFrom',
  'otherSubject',
  'otherAt',
  'createdAt',
] as const

export async function findAddress(db: Db, workspaceId: string): Promise<AddressRow | undefined> {
  return db
    .selectFrom('complaintAddress')
    .select(ADDRESS)
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirst()
}

/** The workspace of an address, unless it is deleted. */
export async function findAddressByMailbox(
  db: Db,
  mailbox: string,
): Promise<AddressRow | undefined> {
  return db
    .selectFrom('complaintAddress')
    .select(ADDRESS)
    .where('mailbox', '=', mailbox)
    .where((eb) => eb.not(isInDeletedWorkspace('complaintAddress.workspaceId')))
    .executeTakeFirst()
}

/** Inserts the address of a workspace, unless it has one. */
export async function insertAddress(db: Db, workspaceId: string, mailbox: string): Promise<void> {
  await db
    .insertInto('complaintAddress')
    .values({ workspaceId, mailbox })
    .onConflict((conflict) => conflict.column('workspaceId').doNothing())
    .execute()
}

export async function deleteAddress(db: Db, workspaceId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('complaintAddress')
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Records a mail to the address that is no complaint. */
export async function recordOtherMail(
  db: Db,
  workspaceId: string,
  { from, subject }: { from: string | null; subject: string | null },
): Promise<void> {
  await db
    .updateTable('complaintAddress')
    .set({
      otherMails: sql<number>`least(other_mails + 1, 1000000)`,
      otherFrom: from,
      otherSubject: subject,
      otherAt: sql<Date>`now()`,
    })
    .where('workspaceId', '=', workspaceId)
    .execute()
}

export type NewComplaint = {
  workspaceId: string
  fingerprint: Buffer
  provider: string | null
  isVerified: boolean
  type: string
  incidents: number
  domain: string | null
  source: string | null
  campaign: Campaign | null
  recipient: Buffer | null
}

/** @returns false for a complaint that is stored already */
export async function insertComplaint(
  db: Db,
  { campaign, ...complaint }: NewComplaint,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('complaint')
    .values({
      ...complaint,
      campaignKind: campaign?.kind ?? null,
      campaign: campaign?.value ?? null,
    })
    .onConflict((conflict) => conflict.columns(['workspaceId', 'fingerprint']).doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

/** The complaints of a summary: of a domain and the names below it, or of all domains. */
export type SummaryFilter = { workspaceId: string; domain: string | null; days: number }

const DAY = sql`(c.received_at at time zone 'utc')::date`

/**
 * Reports that a mail is no spam, that its authentication failed, or that its recipient wants no
 * more of them, are no complaints.
 */
const IS_COMPLAINT = sql`c.type not in ('not-spam', 'auth-failure', 'opt-out', 'opt-out-list')`

/** The first day of the last `days` days, the present one included, in UTC. */
const firstDay = (days: number) => sql`((now() at time zone 'utc')::date - ${days - 1}::int)`

const isAtOrBelow = (column: string, domain: RawBuilder<unknown>) => {
  const name = sql.ref(column)
  return sql`(${name} = ${domain} or right(${name}, length(${domain}) + 1) = '.' || ${domain})`
}

function matches({ workspaceId, domain, days }: SummaryFilter): RawBuilder<unknown> {
  const isOfDomain = domain === null ? sql`true` : isAtOrBelow('c.domain', sql`${domain}::text`)
  return sql`c.workspace_id = ${workspaceId}::uuid and ${isOfDomain}
    and c.received_at >= ${firstDay(days)}::timestamp at time zone 'utc'`
}

export type ProviderDay = {
  provider: string | null
  isVerified: boolean
  day: string
  complaints: number
  notSpam: number
}

/** Sums per provider and day, in order, without days on which none came. */
export async function sumByProviderDay(db: Db, filter: SummaryFilter): Promise<ProviderDay[]> {
  const { rows } = await sql<ProviderDay>`
    select c.provider, c.is_verified, ${DAY} as day,
      coalesce(sum(c.incidents) filter (where ${IS_COMPLAINT}), 0)::int as complaints,
      coalesce(sum(c.incidents) filter (where c.type = 'not-spam'), 0)::int as not_spam
    from complaint c where ${matches(filter)} and c.type <> 'auth-failure'
    group by c.provider, c.is_verified, day order by day, c.provider, c.is_verified desc`.execute(
    db,
  )
  return rows
}

/** The day of the first complaint of each provider, of any domain of the workspace. */
export async function listFirstDays(
  db: Db,
  workspaceId: string,
): Promise<{ provider: string; day: string }[]> {
  const { rows } = await sql<{ provider: string; day: string }>`
    select c.provider, min(${DAY}) as day from complaint c
    where c.workspace_id = ${workspaceId} and c.is_verified and c.provider is not null
    group by c.provider`.execute(db)
  return rows
}

/** Messages of a domain that DMARC reports of some reporters counted, by day. */
export async function listReportedMessages(
  db: Db,
  { workspaceId, domain, days }: SummaryFilter & { domain: string },
  reporters: readonly string[],
): Promise<{ day: string; messages: number }[]> {
  const { rows } = await sql<{ day: string; messages: number }>`
    select s.day, sum(s.messages)::float8 as messages
    from dmarc_domain d join dmarc_reporter_day s on s.domain_id = d.id
    where d.workspace_id = ${workspaceId} and ${isAtOrBelow('d.domain', sql`${domain}::text`)}
      and s.day >= ${firstDay(days)} and lower(s.reporter) = any(${reporters}::text[])
    group by s.day having sum(s.messages) > 0 order by s.day`.execute(db)
  return rows
}

export type GroupRow = {
  complaints: number
  /** Different recipients, of complaints that name them; null where none does. */
  recipients: number | null
  lastAt: Date
}

const GROUP = sql`sum(c.incidents)::int as complaints,
  nullif(count(distinct c.recipient), 0)::int as recipients, max(c.received_at) as last_at`

/** Sums by what sent the mails, most complaints first. */
export async function sumBySource(
  db: Db,
  filter: SummaryFilter,
  limit: number,
): Promise<(GroupRow & { source: string | null })[]> {
  const { rows } = await sql<GroupRow & { source: string | null }>`
    select host(c.source) as source, ${GROUP} from complaint c
    where ${matches(filter)} and ${IS_COMPLAINT}
    group by c.source order by complaints desc, c.source nulls last limit ${limit}`.execute(db)
  return rows
}

/** Sums by the author domain of the mails, most complaints first. */
export async function sumByDomain(
  db: Db,
  filter: SummaryFilter,
  limit: number,
): Promise<(GroupRow & { domain: string | null })[]> {
  const { rows } = await sql<GroupRow & { domain: string | null }>`
    select c.domain, ${GROUP} from complaint c
    where ${matches(filter)} and ${IS_COMPLAINT}
    group by c.domain order by complaints desc, c.domain nulls last limit ${limit}`.execute(db)
  return rows
}

/** Sums by the campaign of the mails, most complaints first. */
export async function sumByCampaign(
  db: Db,
  filter: SummaryFilter,
  limit: number,
): Promise<(GroupRow & { kind: Campaign['kind'] | null; campaign: string | null })[]> {
  const { rows } = await sql<GroupRow & { kind: Campaign['kind'] | null; campaign: string | null }>`
    select c.campaign_kind as kind, c.campaign, ${GROUP} from complaint c
    where ${matches(filter)} and ${IS_COMPLAINT}
    group by c.campaign_kind, c.campaign
    order by complaints desc, c.campaign_kind nulls last, c.campaign limit ${limit}`.execute(db)
  return rows
}

/** The domains with DMARC reports to which verified complaints came lately. */
export async function listRatedDomains(
  db: Db,
  days: number,
): Promise<{ workspaceId: string; domain: string }[]> {
  const { rows } = await sql<{ workspaceId: string; domain: string }>`
    select d.workspace_id, d.domain from dmarc_domain d
    where not ${isInDeletedWorkspace('d.workspace_id')} and exists (
      select from complaint c where c.workspace_id = d.workspace_id and c.is_verified
        and ${isAtOrBelow('c.domain', sql`d.domain`)}
        and c.received_at >= ${firstDay(days)}::timestamp at time zone 'utc')
    union select a.workspace_id, a.domain from spam_rate_alert a
    where not ${isInDeletedWorkspace('a.workspace_id')}
    order by workspace_id, domain`.execute(db)
  return rows
}
