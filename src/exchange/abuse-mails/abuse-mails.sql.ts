import { sql, type Transaction } from 'kysely'
import type { AbuseContact } from '../../protocols/abuse-contact.ts'
import { createOutbox } from '../../jobs/outbox.ts'
import type { Db } from '../../store/database.ts'
import { deleteRows, findRow, hasRow } from '../../store/row.ts'
import { dueInTurn, lockDueRows, type DueRows } from '../../store/due-rows.ts'
import { findResponsible, workspacesOf } from '../../store/responsible.ts'
import type { DB } from '../../store/tables.ts'
import type { QueuedReport } from '../report-queue.ts'
import { LEASE_SECONDS, MAX_ADDRESSES } from './limits.ts'

/** The notification that other workspaces mail their reports now. */
export const MAILING_CHANGED = 'abuse.mails'

type MailMode = 'off' | 'test' | 'on'
export type MailSettings = { mode: MailMode; contact: string }

export async function findSettings(db: Db, workspaceId: string): Promise<MailSettings | undefined> {
  return findRow(db, 'abuseMailSettings', ['mode', 'contact'], { workspaceId })
}

export async function saveSettings(
  db: Db,
  row: { workspaceId: string } & MailSettings,
): Promise<void> {
  const { mode, contact } = row
  await db
    .insertInto('abuseMailSettings')
    .values(row)
    .onConflict((conflict) => conflict.column('workspaceId').doUpdateSet({ mode, contact }))
    .execute()
}

export async function listMailingWorkspaces(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('abuseMailSettings')
    .select('workspaceId')
    .where('mode', '<>', 'off')
    .execute()
  return rows.map(({ workspaceId }) => workspaceId)
}

// --- reports ---

export type MailedReport = {
  address: string
  services: string[]
  port: number | null
  count: number
  firstAt: Date
  lastAt: Date
}

export async function addReports(
  db: Db,
  workspaceId: string,
  reports: QueuedReport[],
  at: Date,
): Promise<void> {
  await sql`
    with given as (
      select address, array_agg(distinct service) as services, min(port) as port, least(sum(count), 1000000)::int as count
      from json_to_recordset(${JSON.stringify(reports)}::json)
        as report (address inet, service text, port integer, count integer)
      group by address
    )
    insert into abuse_mail_report as known (workspace_id, day, address, services, port, count, first_at, last_at)
    select ${workspaceId}::uuid, (${at}::timestamptz at time zone 'UTC')::date, given.*, ${at}::timestamptz, ${at}::timestamptz
    from given
    where (select count(*) from abuse_mail_report r
      where r.workspace_id = ${workspaceId}::uuid and r.day = (${at}::timestamptz at time zone 'UTC')::date) < ${MAX_ADDRESSES}
    order by given.address
    on conflict (workspace_id, day, address) do update set
      services = (select array_agg(distinct s) from unnest(known.services || excluded.services) s),
      port = coalesce(known.port, excluded.port),
      count = least(known.count + excluded.count, 1000000),
      last_at = excluded.last_at`.execute(db)
}

export type UnassignedReport = {
  workspaceId: string
  day: string
  address: string
  mode: MailMode
}

const UNASSIGNED_REPORTS: DueRows = {
  table: 'abuse_mail_report',
  key: 'address',
  dueAt: 'day',
  join: sql`join abuse_mail_settings t on t.workspace_id = r.workspace_id and t.mode <> 'off'`,
  order: sql`r.day, r.count desc, r.address`,
}

/**
 * Lists reports of days that are over and have no email yet, of accounts in turn.
 * @param except addresses whose network could not be found just now
 */
export async function listUnassigned(
  db: Db,
  {
    before,
    after,
    except,
    limit,
  }: { before: string; after: string; except: string[]; limit: number },
): Promise<UnassignedReport[]> {
  const isDue = sql`r.mail_id is null and not r.has_no_contact and r.day < ${before}::date
    and r.day >= ${after}::date and r.address <> all(${except}::inet[])`
  const columns = ['workspace_id', 'day', 'address', 'turn']
  const { rows } = await sql<UnassignedReport>`
    select d.workspace_id, d.day::text as day, host(d.address) as address, s.mode
    from (${dueInTurn(UNASSIGNED_REPORTS, { isDue, limit }, columns)}) d
    join abuse_mail_settings s on s.workspace_id = d.workspace_id
    order by d.turn, d.workspace_id`.execute(db)
  return rows
}

/** Assigns a report to the email about its network, which is created where there is none. */
export async function assignReport(
  db: Transaction<DB>,
  { workspaceId, day, address, mode }: UnassignedReport,
  { recipient, network, at }: { recipient: string; network: string; at: Date },
): Promise<void> {
  await sql`
    with mail as (
      insert into abuse_mail (workspace_id, day, recipient, network, is_test, due_at)
      values (${workspaceId}, ${day}::date, ${recipient}, ${network}, ${mode === 'test'}, ${at}::timestamptz)
      on conflict (workspace_id, day, recipient, network, is_test) where state = 'waiting' do update set network = excluded.network
      returning id
    )
    update abuse_mail_report set mail_id = mail.id from mail
    where workspace_id = ${workspaceId} and day = ${day}::date and address = ${address}::inet`.execute(
    db,
  )
}

export async function markWithoutContact(
  db: Db,
  { workspaceId, day, address }: UnassignedReport,
): Promise<void> {
  await sql`
    update abuse_mail_report set has_no_contact = true
    where workspace_id = ${workspaceId} and day = ${day}::date and address = ${address}::inet`.execute(
    db,
  )
}

export async function listReportsOf(db: Db, mailId: string): Promise<MailedReport[]> {
  const { rows } = await sql<MailedReport>`
    select host(address) as address, services, port, count, first_at, last_at
    from abuse_mail_report where mail_id = ${mailId} order by count desc, address, day`.execute(db)
  return rows
}

// --- contacts ---

export async function findContact(
  db: Db,
  prefix: string,
  after: Date,
): Promise<AbuseContact | undefined> {
  return db
    .selectFrom('abuseContact')
    .select(['network', 'email'])
    .where('prefix', '=', prefix)
    .where('lookedUpAt', '>', after)
    .executeTakeFirst()
}

export async function saveContact(
  db: Db,
  contact: AbuseContact & { prefix: string },
  lookedUpAt: Date,
): Promise<void> {
  const { network, email } = contact
  await db
    .insertInto('abuseContact')
    .values({ ...contact, lookedUpAt })
    .onConflict((conflict) => conflict.column('prefix').doUpdateSet({ network, email, lookedUpAt }))
    .execute()
}

// --- emails ---

export type AbuseMail = {
  id: string
  workspaceId: string
  day: string
  recipient: string
  network: string
  isTest: boolean
  state: 'waiting' | 'sending' | 'sent' | 'skipped' | 'failed' | 'uncertain'
  reason: string
  attempts: number
  endedAt: Date | null
  contact: string
}

const MAIL = sql`m.id, m.workspace_id, m.day::text as day, m.recipient, m.network, m.is_test, m.state, m.reason,
  m.attempts, m.ended_at, s.contact`

/** Emails that are due, by the clock of the service: of the account that got least today first. */
export const DUE_MAILS = {
  table: 'abuse_mail',
  dueAt: 'due_at',
  join: sql`join abuse_mail_settings t on t.workspace_id = r.workspace_id and t.mode <> 'off'`,
  claimedUntil: 'claimed_until',
  leaseSeconds: LEASE_SECONDS,
  where: sql`r.state = 'waiting'`,
} satisfies DueRows

const OUTBOX = createOutbox(DUE_MAILS, {
  reason: 'reason',
  handedOverAt: 'handedOverAt',
  // The reports of a replaced email are assigned to the one that waits.
  oneWaits: ['workspaceId', 'day', 'recipient', 'network', 'isTest'],
})
export const {
  handOver: handOverMail,
  end: endMail,
  putBack: putBackMail,
  recover: recoverMails,
} = OUTBOX

/** Claims the next email. */
export async function claimMail(
  db: Db,
  { now, dayStart }: { now: Date; dayStart: Date },
): Promise<AbuseMail | undefined> {
  const turn = sql`(
    select count(*) from abuse_mail d join workspace own on own.id = d.workspace_id
    where own.responsible_id = w.responsible_id and d.ended_at >= ${dayStart})`
  const next = sql`r.id = (${lockDueRows({ ...DUE_MAILS, turn }, { now, limit: 1 })})`
  const { rows } = await sql<AbuseMail>`
    with m as (${OUTBOX.claim(next, sql`r.*`, { now })})
    select ${MAIL} from m join abuse_mail_settings s on s.workspace_id = m.workspace_id`.execute(db)
  return rows[0]
}

export async function countMails(
  db: Db,
  { workspaceId, recipient, dayStart }: { workspaceId: string; recipient: string; dayStart: Date },
): Promise<{ account: number; recipient: number }> {
  const { rows } = await sql<{ account: number; recipient: number }>`
    select
      (select count(*)::int from abuse_mail
        where workspace_id in ${workspacesOf(await findResponsible(db, workspaceId))}
          and ended_at >= ${dayStart} and state in ('sent', 'uncertain')) as account,
      (select count(*)::int from abuse_mail
        where recipient = ${recipient} and not is_test and ended_at >= ${dayStart} and state in ('sent', 'uncertain')) as recipient`.execute(
    db,
  )
  return rows[0] ?? { account: 0, recipient: 0 }
}

/** Lists emails, newest first, with the number of their addresses. */
export async function listMails(
  db: Db,
  workspaceId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: (AbuseMail & { addresses: number })[]; total: number }> {
  const { rows } = await sql<AbuseMail & { addresses: number; total: number }>`
    select ${MAIL}, (select count(*)::int from abuse_mail_report r where r.mail_id = m.id) as addresses,
      count(*) over ()::int as total
    from abuse_mail m join abuse_mail_settings s on s.workspace_id = m.workspace_id
    where m.workspace_id = ${workspaceId}
    order by m.id desc limit ${limit} offset ${offset}`.execute(db)
  return { rows: rows.map(({ total: _total, ...row }) => row), total: rows[0]?.total ?? 0 }
}

export async function findMail(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<AbuseMail | undefined> {
  const { rows } = await sql<AbuseMail>`
    select ${MAIL} from abuse_mail m join abuse_mail_settings s on s.workspace_id = m.workspace_id
    where m.workspace_id = ${workspaceId} and m.id = ${id}`.execute(db)
  return rows[0]
}

// --- opting out ---

export async function hasOptedOut(db: Db, hash: Buffer): Promise<boolean> {
  return hasRow(db, 'abuseMailOptOut', { hash })
}

export async function insertOptOut(
  db: Db,
  hash: Buffer,
  reason: 'link' | 'bounce' | 'administrator',
): Promise<void> {
  await db
    .insertInto('abuseMailOptOut')
    .values({ hash, reason })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export type OptOut = {
  id: string
  email: string | null
  source: 'link' | 'bounce' | 'administrator'
  createdAt: Date
}

/**
 * Lists addresses that get no emails, newest first, or one of them. Only hashes are stored: an
 * address is known while a network or an email has it.
 */
export async function listOptOuts(
  db: Db,
  hash: Buffer | null,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: OptOut[]; total: number }> {
  const { rows } = await sql<OptOut & { total: number }>`
    with page as (
      select hash, reason, created_at, count(*) over ()::int as total from abuse_mail_opt_out
      where ${hash}::bytea is null or hash = ${hash}
      order by created_at desc, hash desc limit ${limit} offset ${offset}),
    known as (
      select sha256(convert_to(lower(btrim(email)), 'UTF8')) as hash, min(email) as email
      from (select email from abuse_contact where email is not null union select recipient from abuse_mail) a
      group by 1)
    select encode(page.hash, 'hex') as id, known.email, page.reason as source, page.created_at, page.total
    from page left join known on known.hash = page.hash
    order by page.created_at desc, page.hash desc`.execute(db)
  return { rows: rows.map(({ total: _total, ...row }) => row), total: rows[0]?.total ?? 0 }
}

/** @returns whether the address had opted out */
export async function deleteOptOut(db: Db, hash: Buffer): Promise<boolean> {
  return deleteRows(db, 'abuseMailOptOut', { hash })
}
