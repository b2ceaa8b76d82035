import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { MailboxProof, ProofLevel, Verdict } from './proof-document.ts'
import { findRow, type Row, updateRows } from '../../store/row.ts'

type ProofState = 'waiting' | 'running' | 'done' | 'failed'

const COLUMNS = [
  'migrationId',
  'workspaceId',
  'level',
  'state',
  'request',
  'requestedAt',
  'endedAt',
  'messagesRead',
  'messagesTotal',
  'error',
  'verdict',
] as const

export type ProofRow = Row<
  'migrationProof',
  typeof COLUMNS,
  { level: ProofLevel; state: ProofState; verdict: Verdict | null }
>

/** Requests proofs of migrations. An earlier proof stays until the new one is made. */
export async function requestProofs(
  db: Db,
  migrationIds: readonly string[],
  { workspaceId, level }: Pick<ProofRow, 'workspaceId' | 'level'>,
): Promise<void> {
  await sql`insert into migration_proof (migration_id, workspace_id, level, state)
    select id, ${workspaceId}, ${level}, 'waiting' from unnest(${migrationIds}::uuid[]) as given(id)
    on conflict (migration_id) do update set level = excluded.level, state = 'waiting', request = gen_random_uuid(),
      requested_at = now(), ended_at = null, messages_read = 0, messages_total = null, error = null`.execute(
    db,
  )
}

export async function findProof(db: Db, migrationId: string): Promise<ProofRow | undefined> {
  return findRow(db, 'migrationProof', COLUMNS, { migrationId })
}

/** Claims a requested proof; undefined when it was made already. */
export async function claimProof(db: Db, migrationId: string): Promise<ProofRow | undefined> {
  const row = await db
    .updateTable('migrationProof')
    .set({ state: 'running', messagesRead: 0 })
    .where('migrationId', '=', migrationId)
    .where('state', 'in', ['waiting', 'running'])
    .returning(COLUMNS)
    .executeTakeFirst()
  return row as ProofRow | undefined
}

type Request = Pick<ProofRow, 'migrationId' | 'request'>

export async function saveProofProgress(
  db: Db,
  { migrationId, request }: Request,
  progress: { messagesRead: number; messagesTotal: number | null },
): Promise<void> {
  await updateRows(db, 'migrationProof', { migrationId, request }, progress)
}

/** Ends a proof, unless it was requested again meanwhile. */
export async function endProof(
  db: Db,
  { migrationId, request }: Request,
  result: { document: string; verdict: Verdict } | { error: string },
): Promise<boolean> {
  return updateRows(
    db,
    'migrationProof',
    { migrationId, request },
    {
      state: 'error' in result ? 'failed' : 'done',
      endedAt: sql<Date>`now()`,
      error: null,
      ...result,
    },
  )
}

/** The exact text of the last proof; null before there is one. */
export async function findDocument(db: Db, migrationId: string): Promise<string | null> {
  const row = await findRow(db, 'migrationProof', ['document'], { migrationId })
  return row?.document ?? null
}

/** What a proof needs of the migration besides its own row. */
export type ProofSubject = {
  batchId: string | null
  mailboxId: string | null
  /** The encrypted secrets of the migration, or of the mailbox of a batch. */
  sealed: string | null
  passes: number
  lastPassAt: Date | null
}

export async function findSubject(db: Db, migrationId: string): Promise<ProofSubject | undefined> {
  const { rows } = await sql<ProofSubject>`
    select g.batch_id, m.id as mailbox_id, coalesce(bs.sealed, gs.sealed) as sealed,
      coalesce(m.passes, s.passes, 1) as passes, coalesce(m.synced_at, s.last_ended_at, g.completed_at) as last_pass_at
    from migration g left join batch_mailbox m on m.migration_id = g.id
    left join batch_mailbox_secret bs on bs.mailbox_id = m.id
    left join migration_secret gs on gs.migration_id = g.id
    left join migration_sync s on s.migration_id = g.id
    where g.id = ${migrationId}`.execute(db)
  return rows[0]
}

/** A mailbox of a batch with the sums of its proof. */
export type BatchProofRow = {
  source: string
  destination: string
  migrationId: string | null
  state: ProofState | null
  error: string | null
  /** Null before there is a proof. */
  summary: Omit<MailboxProof, 'folders' | 'leftOut' | 'missingMessages' | 'notes'> | null
  /** SHA-256 of the document. */
  digest: string | null
}

/** The mailboxes of a batch with their proofs, in the order of its list, without invalid lines. */
export async function listBatchProofs(db: Db, batchId: string): Promise<BatchProofRow[]> {
  const { rows } = await sql<BatchProofRow>`
    select concat(m.source ->> 'user', ' on ', m.source ->> 'host') as source,
      concat(m.destination ->> 'user', ' on ', m.destination ->> 'host') as destination,
      m.migration_id, p.state, p.error,
      p.document::jsonb - array['folders', 'leftOut', 'missingMessages', 'notes'] as summary,
      encode(sha256(convert_to(p.document, 'UTF8')), 'hex') as digest
    from batch_mailbox m left join migration_proof p on p.migration_id = m.migration_id
    where m.batch_id = ${batchId} and m.state <> 'invalid' order by m.position`.execute(db)
  return rows
}

export type BatchProofCounts = {
  mailboxes: number
  requested: number
  waiting: number
  done: number
  failed: number
  incomplete: number
  requestedAt: Date | null
  endedAt: Date | null
}

export async function countBatchProofs(db: Db, batchId: string): Promise<BatchProofCounts> {
  const { rows } = await sql<BatchProofCounts>`
    select count(*)::int as mailboxes, count(p.migration_id)::int as requested,
      (count(*) filter (where p.state in ('waiting', 'running')))::int as waiting,
      (count(*) filter (where p.state = 'done'))::int as done,
      (count(*) filter (where p.state = 'failed'))::int as failed,
      (count(*) filter (where p.state = 'done' and p.verdict = 'incomplete'))::int as incomplete,
      min(p.requested_at) as requested_at, max(p.ended_at) as ended_at
    from batch_mailbox m left join migration_proof p on p.migration_id = m.migration_id
    where m.batch_id = ${batchId} and m.state <> 'invalid'`.execute(db)
  return rows[0] as BatchProofCounts
}
