import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { claimDueRows, type DueRows } from '../../store/due-rows.ts'
import { workspacesOf } from '../../store/responsible.ts'
import { deleteRows, findRow, insertRow, listRows, type Row, updateRows } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import { ADVISORY_LOCKS } from '../../store/advisory-locks.ts'
import { ANALYSIS_LEASE_SECONDS, MAX_MAILS_PER_TEST } from '../limits.ts'
import type { BackgroundFact } from './background/background-fact.ts'
import type { Finding } from './analysis/finding.ts'
import type { SmtpConnection } from '../../net/smtp-server.ts'
import type { MailOrigin } from './analysis/mail-facts.ts'
import type { EngineResult } from './engines/engine.ts'

const TEST = [
  'id',
  'workspaceId',
  'token',
  'domain',
  'shareToken',
  'mailCount',
  'createdAt',
  'expiresAt',
] as const

export type TestRow = Row<'mailTest', typeof TEST>

const MAIL = [
  'id',
  'testId',
  'workspaceId',
  'number',
  'origin',
  'state',
  'ip',
  'helo',
  'mailFrom',
  'rcptTo',
  'connection',
  'transcript',
  'subject',
  'fromHeader',
  'bytes',
  'findings',
  'engines',
  'background',
  'receivedAt',
  'createdAt',
] as const

/** A mail of a test, without its bytes. */
export type MailRow = Row<
  'mailTestMail',
  typeof MAIL,
  {
    origin: MailOrigin
    state: 'analyzing' | 'done' | 'failed'
    connection: SmtpConnection | null
    transcript: string[] | null
    findings: Finding[]
    engines: EngineResult[]
    background: BackgroundFact[]
  }
>

/**
 * Counts the open tests of the account that answers for a workspace. The account creates no other
 * test until the transaction ends.
 */
export async function lockOpenTests(
  trx: Transaction<DB>,
  workspaceId: string,
): Promise<{ open: number; firstExpiry: Date | null }> {
  const responsible = sql<string>`(select responsible_id from workspace where id = ${workspaceId})`
  await sql`select pg_advisory_xact_lock(
    ${ADVISORY_LOCKS.mailTests}, hashtext(${responsible}::text))`.execute(trx)
  const { rows } = await sql<{ open: number; firstExpiry: Date | null }>`
    select count(*) as open, min(expires_at) as first_expiry from mail_test
    where expires_at > now() and mail_count < ${MAX_MAILS_PER_TEST}
      and workspace_id in ${workspacesOf(responsible)}`.execute(trx)
  return rows[0] ?? { open: 0, firstExpiry: null }
}

export async function insertTest(
  db: Db,
  test: Pick<TestRow, 'workspaceId' | 'token' | 'domain' | 'expiresAt'>,
): Promise<TestRow> {
  return insertRow(db, 'mailTest', test, TEST)
}

export async function findTest(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<TestRow | undefined> {
  return findRow(db, 'mailTest', TEST, { workspaceId, id })
}

/** The test that a link shows, unless its workspace is deleted. */
export async function findSharedTest(db: Db, shareToken: string): Promise<TestRow | undefined> {
  return db
    .selectFrom('mailTest')
    .select(TEST)
    .where('shareToken', '=', shareToken)
    .where((eb) => eb.not(isInDeletedWorkspace('mailTest.workspaceId')))
    .executeTakeFirst()
}

/** The test of an address, unless its workspace is deleted; also one that has expired. */
export async function findTestByToken(db: Db, token: string): Promise<TestRow | undefined> {
  return db
    .selectFrom('mailTest')
    .select(TEST)
    .where('token', '=', token)
    .where((eb) => eb.not(isInDeletedWorkspace('mailTest.workspaceId')))
    .executeTakeFirst()
}

/** The workspace’s tests that still receive mail, by their tokens. */
export async function listOpenTests(db: Db, workspaceId: string): Promise<TestRow[]> {
  return db
    .selectFrom('mailTest')
    .select(TEST)
    .where('workspaceId', '=', workspaceId)
    .where('expiresAt', '>', sql<Date>`now()`)
    .where('mailCount', '<', MAX_MAILS_PER_TEST)
    .execute()
}

/** Workspaces with a test that has no mail yet. */
export async function listWaitingWorkspaces(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('mailTest')
    .select('workspaceId')
    .distinct()
    .where('expiresAt', '>', sql<Date>`now()`)
    .where('mailCount', '=', 0)
    .where((eb) => eb.not(isInDeletedWorkspace('mailTest.workspaceId')))
    .execute()
  return rows.map(({ workspaceId }) => workspaceId)
}

/** A test in a list: its latest subject, and how many failures block or hurt. */
export type ListedTest = TestRow & {
  subject: string | null
  state: MailRow['state'] | null
  blocks: number
  hurts: number
}

const failuresOf = (severity: string) => sql<number>`coalesce((
  select count(*) from jsonb_array_elements(latest.findings) f
  where f->>'state' = 'failed' and f->>'severity' = ${severity}), 0)`

/** A workspace’s tests, newest first; those of a domain with those of its subdomains. */
export async function listTests(
  db: Db,
  workspaceId: string,
  { domain, limit, offset }: { domain?: string | undefined; limit: number; offset: number },
): Promise<{ rows: ListedTest[]; total: number }> {
  const isOfDomain =
    domain === undefined
      ? sql`true`
      : sql`(t.domain = ${domain} or right(t.domain, length(${domain}) + 1) = '.' || ${domain})`
  const { rows } = await sql<ListedTest & { total: number }>`
    select t.*, latest.subject, latest.state, ${failuresOf('blocks')} as blocks,
      ${failuresOf('hurts')} as hurts, count(*) over () as total
    from mail_test t left join lateral (
      select subject, state, findings from mail_test_mail m
      where m.test_id = t.id order by number desc limit 1) latest on true
    where t.workspace_id = ${workspaceId} and ${isOfDomain}
    order by t.created_at desc, t.id desc limit ${limit} offset ${offset}`.execute(db)
  return { rows, total: rows[0]?.total ?? 0 }
}

export async function deleteTest(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'mailTest', { workspaceId, id })
}

/** Sets or removes the token of a test’s link. @returns false for a test that does not exist */
export async function setShareToken(
  db: Db,
  workspaceId: string,
  id: string,
  shareToken: string | null,
): Promise<boolean> {
  return updateRows(db, 'mailTest', { workspaceId, id }, { shareToken })
}

/** The mails of a test, in their order. */
export async function listMails(db: Db, testId: string): Promise<MailRow[]> {
  return listRows(db, 'mailTestMail', MAIL, { testId }, 'number')
}

export type NewMail = Pick<
  MailRow,
  | 'origin'
  | 'ip'
  | 'helo'
  | 'mailFrom'
  | 'rcptTo'
  | 'connection'
  | 'transcript'
  | 'subject'
  | 'fromHeader'
  | 'receivedAt'
> & { content: Buffer; fromDomain: string | null }

/**
 * Stores a mail and its bytes, claimed for its first analysis. A test without a domain becomes one
 * of the domain in From.
 * @returns null for a test that has expired or has all its mails
 */
export async function insertMail(
  trx: Transaction<DB>,
  testId: string,
  { content, fromDomain, connection, transcript, ...mail }: NewMail,
  rawExpiresAt: Date,
): Promise<MailRow | null> {
  const test = await trx
    .updateTable('mailTest')
    .set({
      mailCount: sql`mail_count + 1`,
      domain: sql`coalesce(domain, ${fromDomain})`,
    })
    .where('id', '=', testId)
    .where('expiresAt', '>', sql<Date>`now()`)
    .where('mailCount', '<', MAX_MAILS_PER_TEST)
    .returning(['mailCount', 'workspaceId'])
    .executeTakeFirst()
  if (!test) return null
  const row = await trx
    .insertInto('mailTestMail')
    .values({
      ...mail,
      testId,
      workspaceId: test.workspaceId,
      number: test.mailCount,
      connection: connection && JSON.stringify(connection),
      transcript: transcript && JSON.stringify(transcript),
      bytes: content.length,
      dueAt: sql<Date>`now() + make_interval(secs => ${ANALYSIS_LEASE_SECONDS})`,
      attempts: 1,
    })
    .returning(MAIL)
    .executeTakeFirstOrThrow()
  await trx
    .insertInto('mailTestRaw')
    .values({ mailId: row.id, content, expiresAt: rawExpiresAt })
    .execute()
  return row as unknown as MailRow
}

/** The bytes of a mail; undefined once they are erased. */
export async function findRaw(db: Db, mailId: string): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('mailTestRaw')
    .select('content')
    .where('mailId', '=', mailId)
    .where('expiresAt', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return row?.content
}

export type AnalysisState = Pick<MailRow, 'findings' | 'engines' | 'background'>

/** Stores what is known so far; with `state`, the analysis has ended. */
export async function saveAnalysis(
  db: Db,
  mailId: string,
  { findings, engines, background }: AnalysisState,
  state?: 'done' | 'failed',
): Promise<void> {
  await db
    .updateTable('mailTestMail')
    .set({
      findings: JSON.stringify(findings),
      engines: JSON.stringify(engines),
      background: JSON.stringify(background),
      ...(state && { state, dueAt: null }),
    })
    .where('id', '=', mailId)
    .execute()
}

/** Mails whose analysis did not end. */
export const DUE_ANALYSES: DueRows = {
  table: 'mail_test_mail',
  dueAt: 'due_at',
  leaseSeconds: ANALYSIS_LEASE_SECONDS,
  claims: 'attempts',
}

/** Claims mails whose analysis ended with its instance, one of each account in turn. */
export async function claimAnalyses(
  db: Db,
  limit: number,
): Promise<(MailRow & { attempts: number })[]> {
  const claim = claimDueRows<MailRow & { attempts: number }>(DUE_ANALYSES, { limit }, sql`r.*`)
  return (await claim.execute(db)).rows
}
