import type { Db } from '../../store/database.ts'
import { VERSION } from '../../version.ts'
import type { BatchRow } from '../batches/batches.sql.ts'
import {
  PROOF_FORMAT,
  totalsOfMailboxes,
  verdictOfBatch,
  type BatchProof,
  type ProvenMailbox,
} from './proof-document.ts'
import { listBatchProofs, type BatchProofRow } from './proofs.sql.ts'

/** Composes the proof of a batch from those of its mailboxes. */
export async function composeBatchProof(
  db: Db,
  { id, name, createdAt }: Pick<BatchRow, 'id' | 'name' | 'createdAt'>,
): Promise<BatchProof> {
  const mailboxes = (await listBatchProofs(db, id)).map(provenMailbox)
  const times = mailboxes.flatMap(({ readUntil }) => readUntil ?? [])
  return {
    format: PROOF_FORMAT,
    kind: 'batch',
    madeBy: `Portreeve ${VERSION}`,
    batch: { id, name, createdAt: createdAt.toISOString() },
    readUntil: times.toSorted().at(-1) ?? null,
    mailboxes,
    totals: totalsOfMailboxes(mailboxes),
    verdict: verdictOfBatch(mailboxes),
  }
}

function provenMailbox(row: BatchProofRow): ProvenMailbox {
  const { source, destination, migrationId: migration, summary, digest } = row
  const problem = problemOf(row)
  if (problem !== null || !summary) {
    const none = { level: null, readUntil: null, totals: null, document: null }
    const empty = { changes: [], missing: [], additional: [] }
    return { source, destination, migration, problem, verdict: 'incomplete', ...none, ...empty }
  }
  const { level, readUntil, verdict, totals, changes, missing, additional } = summary
  return {
    source,
    destination,
    migration,
    problem,
    level,
    readUntil,
    verdict,
    totals,
    changes,
    missing,
    additional,
    document: digest,
  }
}

function problemOf({ migrationId, state, error, summary }: BatchProofRow): string | null {
  if (migrationId === null) return 'It was never copied.'
  if (state === 'failed') return error ?? 'The proof could not be made.'
  if (state === null) return 'No proof was made.'
  return state === 'done' && summary ? null : 'The proof is being made.'
}
