import { hash, randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { notify } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import {
  countListedOf,
  countTokens,
  deleteToken,
  findToken,
  insertToken,
  listReportTokens,
  sumTokenReports,
  type TokenRow,
  type TokenUse,
} from './report-tokens.sql.ts'
import { DAY_MS, isoDay } from '../../time.ts'

/** 32 letters and digits: 190 random bits. */
export const TOKEN_PATTERN = '^ar_[A-Za-z0-9]{32}$'

/** A bouncer key reads the fleet list and is never part of a URL. */
const BOUNCER_KEY_PATTERN = '^bk_[A-Za-z0-9]{32}$'

/** The channel on which instances hear that a token or key was revoked. */
export const TOKENS_CHANGED = 'abuse.tokens'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** Of each kind. */
const TOKENS_PER_WORKSPACE = 100
const KINDS = {
  report: { prefix: 'ar', noun: 'report token' },
  bouncer: { prefix: 'bk', noun: 'bouncer key' },
} as const
const WEEK_MS = 7 * DAY_MS

/** The stored form of a token, in hex; null for a malformed one. */
export function hashReportToken(token: string): string | null {
  return new RegExp(TOKEN_PATTERN).test(token) ? hash('sha256', token, 'hex') : null
}

/** The stored form of a key that reads the fleet list; report tokens of earlier versions read it too. */
export function hashBouncerKey(key: string): string | null {
  return new RegExp(BOUNCER_KEY_PATTERN).test(key)
    ? hash('sha256', key, 'hex')
    : hashReportToken(key)
}

/**
 * Creates a report token or bouncer key. It is shown only now.
 * @throws Fault `conflict` when the workspace has too many
 */
export async function issueToken(
  db: Db,
  use: TokenUse,
  { workspaceId, label }: { workspaceId: string; label: string },
): Promise<TokenRow & { token: string }> {
  const { prefix, noun } = KINDS[use]
  if ((await countTokens(db, use, workspaceId)) >= TOKENS_PER_WORKSPACE)
    throw new Fault(
      'conflict',
      `A workspace can have up to ${TOKENS_PER_WORKSPACE} ${noun}s. Revoke one first.`,
    )
  const token = `${prefix}_${Array.from({ length: 32 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`
  const kept = {
    workspaceId,
    label,
    hash: hash('sha256', token, 'buffer'),
    lastFour: token.slice(-4),
  }
  const row = await insertToken(db, use, kept)
  await notifyChange(db, workspaceId, 'attacks', row.id)
  return { ...row, token }
}

/**
 * Revokes a token or key in every instance.
 * @throws Fault `not_found` also for another workspace's token
 */
export async function revokeToken(
  db: Kysely<DB>,
  use: TokenUse,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await deleteToken(trx, use, { workspaceId, id })))
      throw new Fault('not_found', `The ${KINDS[use].noun} was not found.`)
    await notify(trx, TOKENS_CHANGED, null)
    await notifyChange(trx, workspaceId, 'attacks', id)
  })
}

/** Lists a workspace’s tokens, newest first, each with the number of its reports. */
export function listOwnTokens(db: Db, workspaceId: string, now: number) {
  return listReportTokens(db, workspaceId, dayAWeekBefore(now))
}

/**
 * Reads the reports of a token, for anyone who has it.
 * @throws Fault `not_found`
 */
export async function readMetrics(db: Db, token: string, now: number) {
  const hashed = hashReportToken(token)
  const id = hashed === null ? undefined : await findToken(db, Buffer.from(hashed, 'hex'))
  if (id === undefined) throw new Fault('not_found', 'The report token was not found.')
  const rows = await sumTokenReports(db, id)
  const weekAgo = dayAWeekBefore(now)
  const byService = [...Map.groupBy(rows, ({ service }) => service)]
    .map(([service, those]) => ({ service, count: sum(those) }))
    .toSorted((a, b) => b.count - a.count)
  return {
    totalReports: sum(rows),
    last7d: sum(rows.filter(({ day }) => day > weekAgo)),
    currentlyListedFromMyReports: await countListedOf(db, id),
    byService,
  }
}

const dayAWeekBefore = (now: number) => isoDay(now - WEEK_MS)

const sum = (those: { count: number }[]) => those.reduce((all, { count }) => all + count, 0)
