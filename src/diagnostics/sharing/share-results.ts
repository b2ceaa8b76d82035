import { randomInt } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import { bytesText, overQuota, QUOTA_BYTES } from '../../accounts/own-data/account-quotas.ts'
import { Fault } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { readReceipt } from './check-receipt.ts'
import {
  insertShared,
  listSharedUsage,
  lockSharing,
  type SharedResult,
  type SharedRow,
} from '../shared-checks.sql.ts'
import { DAY_MS } from '../../time.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** 143 random bits. */
const TOKEN_LENGTH = 24

export const SHARE_LIFETIME_MS = 30 * DAY_MS
const MAX_SHARES_PER_WORKSPACE = 200

/** A result with the receipt that came with it. */
export type ResultWithReceipt = { check: string; data: Record<string, unknown>; receipt: string }

type ShareDeps = { db: Kysely<DB>; secretKey: string }

/**
 * Stores results for thirty days, for everyone who has the link.
 * @throws Fault `invalid_request` when a result was not returned to this workspace, or the results
 *   are about different names; `conflict` when the workspace shares too much already
 */
export async function shareResults(
  deps: ShareDeps,
  workspaceId: string,
  results: ResultWithReceipt[],
): Promise<SharedRow> {
  const proven = results.map((result, index) => verifyReceipt(deps, workspaceId, result, index))
  const [target, ...others] = new Set(results.map(({ data }) => targetOf(data)))
  if (target === undefined || others.length > 0)
    throw new Fault('invalid_request', 'All results must be for the same domain or address.')
  const expiresAt = new Date(Date.now() + SHARE_LIFETIME_MS)
  return deps.db.transaction().execute(async (trx) => {
    await requireQuota(trx, workspaceId, Buffer.byteLength(JSON.stringify(proven)))
    const row = await insertShared(trx, {
      token: newToken(),
      workspaceId,
      target,
      results: proven,
      expiresAt,
    })
    await notifyChange(trx, workspaceId, 'checks')
    return row
  })
}

/** @throws Fault `conflict` for too many results, `rate_limited` for too many bytes */
async function requireQuota(
  trx: Transaction<DB>,
  workspaceId: string,
  bytes: number,
): Promise<void> {
  const { plan, accountPlan, accountBytes } = await lockSharing(trx, workspaceId)
  const [shared] = await listSharedUsage(trx, [workspaceId])
  if ((shared?.count ?? 0) >= MAX_SHARES_PER_WORKSPACE)
    throw new Fault(
      'conflict',
      `A workspace can share up to ${MAX_SHARES_PER_WORKSPACE} results. Delete one first.`,
    )
  const quotas = [
    { limit: QUOTA_BYTES[plan].sharedChecks, used: shared?.bytes ?? 0 },
    { limit: QUOTA_BYTES[accountPlan].sharedChecks, used: accountBytes },
  ]
  const full = quotas.find(({ limit, used }) => used + bytes > limit)
  if (!full) return
  const sentence = `Your plan includes ${bytesText(full.limit)} for shared results. Delete one first, or wait until the oldest expires.`
  throw overQuota(
    sentence,
    ((shared?.endsAt.getTime() ?? Date.now() + SHARE_LIFETIME_MS) - Date.now()) / 1_000,
  )
}

function verifyReceipt(
  { secretKey }: ShareDeps,
  workspaceId: string,
  shareable: ResultWithReceipt,
  index: number,
): SharedResult {
  const { check, data, receipt } = shareable
  const madeAt = readReceipt(receipt, { workspaceId, check, data }, secretKey)
  if (madeAt) return { check, data, madeAt: madeAt.toISOString() }
  const message = 'does not match its receipt; send the result as the check returned it'
  throw new Fault('invalid_request', `Result ${index + 1} ${message}.`, {
    details: [{ path: `results/${index}/receipt`, message }],
  })
}

/** The target of a check. The receipt guarantees that a check returned it. */
function targetOf({ unicodeDomain, domain, ip }: Record<string, unknown>): string {
  return String(unicodeDomain ?? domain ?? ip)
}

function newToken(): string {
  return Array.from({ length: TOKEN_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}
