import { checkSignature } from '../../protocols/webhook-signature.ts'
import type { Db } from '../../store/database.ts'
import { EMAIL_METHOD } from '../email/endpoint-email.ts'
import { decryptSignatureSecret } from '../endpoints/endpoints.ts'
import { MAX_VERIFIED_BYTES, MAX_VERIFIED_REQUESTS, REQUESTS_PER_ENDPOINT } from '../limits.ts'
import type { RequestRow } from '../requests/captured-request.ts'
import { findStart, listRequests } from '../requests/captured-requests.sql.ts'
import type { VerifiedRequests } from './evaluate-endpoints.ts'
import type { WatchedEndpoint } from './endpoint-alerts.sql.ts'

/**
 * Verifies the signatures of requests that arrived since the last evaluation, oldest first. The
 * capture itself verifies none.
 * @returns also the bytes of the bodies that were read
 */
export async function verifyNewRequests(
  { db, secretKey }: { db: Db; secretKey: string },
  endpoint: WatchedEndpoint,
): Promise<VerifiedRequests & { bytes: number }> {
  const { id, signature, newest, state } = endpoint
  const seenSeq = newest?.seq ?? state.seenSeq
  const none = { seenSeq, hasMore: false, bad: null, goodAt: null, bytes: 0 }
  if (!endpoint.badSignature || signature === null || newest === null) return none
  const secret = decryptSignatureSecret(endpoint, secretKey)
  // Also where this key does not decrypt it: the other alerts do not depend on it.
  if (secret === null) return none
  const { rows, hasMore } = await listRequests(db, id, {
    order: 'asc',
    from: await findStart(db, id, state.seenSeq, REQUESTS_PER_ENDPOINT),
    limit: MAX_VERIFIED_REQUESTS,
    maxBytes: MAX_VERIFIED_BYTES,
  })
  const verdicts = rows.filter(isComplete).map((row) => ({
    row,
    status: checkSignature(signature, secret, signed(row), false).status,
  }))
  const bad = verdicts.filter(({ status }) => status === 'invalid' || status === 'unsigned')
  const last = bad.at(-1)?.row
  return {
    seenSeq: rows.at(-1)?.seq ?? seenSeq,
    hasMore,
    bad: last
      ? {
          count: bad.length,
          at: last.receivedAt,
          reason: checkSignature(signature, secret, signed(last)).reason,
        }
      : null,
    goodAt: verdicts.findLast(({ status }) => status === 'valid')?.row.receivedAt ?? null,
    bytes: rows.reduce((sum, { body }) => sum + body.length, 0),
  }
}

/** Browsers sign no preflight, mails have no such signature, and neither has a part of a body. */
function isComplete({ method, preflight, aborted, rejected }: RequestRow): boolean {
  return !preflight && !aborted && rejected === null && method !== EMAIL_METHOD
}

function signed(row: RequestRow) {
  return { ...row, truncated: row.bodySize > row.body.length }
}
