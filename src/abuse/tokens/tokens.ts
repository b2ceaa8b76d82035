import { hash, randomInt } from 'node:crypto'
import { Fault } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { notify } from '../../store/notifications.ts'
import {
  countListedOf,
  countReportTokens,
  deleteReportToken,
  findToken,
  insertReportToken,
  listReportTokens,
  sumTokenReports,
  type ReportTokenRow,
} from './store.ts'
import { DAY_MS } from '../../time.ts'

/** 32 letters and digits: 190 random bits. */
export const TOKEN_PATTERN = '^ar_[A-Za-z0-9]{32}$'

/** The channel on which instances hear that a report token was revoked. */
export const TOKENS_CHANGED = 'abuse.tokens'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const TOKENS_PER_WORKSPACE = 100
const WEEK_MS = 7 * DAY_MS

/** The stored form of a token, in hex; null for a malformed one. */
export function hashReportToken(token: string): string | null {
  return new RegExp(TOKEN_PATTERN).test(token) ? hash('sha256', token, 'hex') : null
}

/**
 * Creates a report token. It is shown only now.
 * @throws Fault `conflict` when the workspace has too many
 */
export async function issueReportToken(
  db: Db,
  workspaceId: string,
  label: string,
): Promise<ReportTokenRow & { token: string }> {
  if ((await countReportTokens(db, workspaceId)) >= TOKENS_PER_WORKSPACE)
    throw new Fault(
      'conflict',
      `A workspace can have up to ${TOKENS_PER_WORKSPACE} report tokens. Revoke one first.`,
    )
  const token = `ar_${Array.from({ length: 32 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`
  const kept = {
    workspaceId,
    label,
    hash: hash('sha256', token, 'buffer'),
    lastFour: token.slice(-4),
  }
  const row = await insertReportToken(db, kept)
  await notifyChange(db, workspaceId, 'attacks', row.id)
  return { ...row, token }
}

/** @throws Fault `not_found` also for another workspace's token */
export async function revokeReportToken(db: Db, workspaceId: string, id: string): Promise<void> {
  if (!(await deleteReportToken(db, workspaceId, id)))
    throw new Fault('not_found', 'The report token was not found.')
  await notify(db, TOKENS_CHANGED, null)
  await notifyChange(db, workspaceId, 'attacks', id)
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

const dayAWeekBefore = (now: number) => new Date(now - WEEK_MS).toISOString().slice(0, 10)

const sum = (those: { count: number }[]) => those.reduce((all, { count }) => all + count, 0)
