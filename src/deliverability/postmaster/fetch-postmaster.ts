import type { Kysely } from 'kysely'
import type { ReadAccessToken } from '../../mail-credentials/access-token.ts'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_MS } from '../../time.ts'
import {
  MAX_POSTMASTER_DOMAINS,
  POSTMASTER_DAYS,
  POSTMASTER_FIRST_DAYS,
  POSTMASTER_INTERVAL_SECONDS,
  RECENT_STATISTICS_DAYS,
} from '../limits.ts'
import { AccessProblem } from '../provider-access/access-problem.ts'
import { tokensOf } from '../provider-access/ask-provider.ts'
import { recordProblem, recordSuccess } from '../provider-access/record-outcome.ts'
import { recordSpamRate } from '../spam-rates/record-spam-rate.ts'
import { levelOf } from '../spam-rates/spam-rate.ts'
import { createPostmasterApi, type PostmasterApi } from './postmaster-api.ts'
import {
  listOwnDomains,
  listPostmasterDays,
  savePostmasterDays,
  savePostmasterDomain,
  type PostmasterAccessRow,
} from './postmaster.sql.ts'

export type PostmasterDeps = {
  db: Kysely<DB>
  readToken: ReadAccessToken
  /** Sends requests to Google. */
  requestGoogle: GuardedFetch
}

/** Fetches what Google says of each domain of a workspace, and plans the next time. */
export async function fetchPostmaster(
  deps: PostmasterDeps,
  access: PostmasterAccessRow,
  signal: AbortSignal,
): Promise<void> {
  const { db } = deps
  const { workspaceId } = access
  try {
    const token = tokensOf(deps.readToken, access, 'at Google')
    const api = createPostmasterApi(deps.requestGoogle, token, signal)
    for (const own of await listOwnDomains(db, workspaceId, MAX_POSTMASTER_DOMAINS)) {
      signal.throwIfAborted()
      await fetchDomain(deps, api, { ...own, workspaceId })
    }
    await recordSuccess(db, 'postmaster_access', workspaceId, POSTMASTER_INTERVAL_SECONDS)
  } catch (error) {
    if (signal.aborted || !(error instanceof AccessProblem)) throw error
    await recordProblem(db, 'postmaster_access', workspaceId, error)
  }
}

type OwnDomain = { workspaceId: string; domain: string; lastDay: string | null }

/** @throws AccessProblem that concerns other domains, too */
async function fetchDomain(
  { db }: PostmasterDeps,
  api: PostmasterApi,
  { lastDay, ...subject }: OwnDomain,
): Promise<void> {
  try {
    const range = {
      from: dayBefore(lastDay === null ? POSTMASTER_FIRST_DAYS : POSTMASTER_DAYS),
      // The present day may not have begun where Google counts.
      to: dayBefore(1),
    }
    const days = await api.queryDays(subject.domain, range)
    await savePostmasterDays(db, subject, days)
    const compliance = await api.queryCompliance(subject.domain)
    await savePostmasterDomain(db, subject, { state: 'available', problem: null, compliance })
    await evaluateSpamRate(db, subject)
  } catch (error) {
    if (!(error instanceof AccessProblem)) throw error
    const { kind, message } = error
    if (kind === 'ended' || kind === 'later') throw error
    await savePostmasterDomain(db, subject, { state: kind, problem: message, compliance: null })
  }
}

/** Compares the latest spam rate with the limits, unless it is old. */
async function evaluateSpamRate(
  db: Kysely<DB>,
  subject: { workspaceId: string; domain: string },
): Promise<void> {
  const days = await listPostmasterDays(db, subject, dayBefore(RECENT_STATISTICS_DAYS))
  const latest = days.findLast(({ spamRate }) => spamRate !== null)
  if (!latest || latest.spamRate === null) return
  await recordSpamRate(db, {
    ...subject,
    provider: 'google',
    providerName: 'Google',
    rate: latest.spamRate,
    level: levelOf(latest.spamRate),
    basis: `Google Postmaster Tools counts this for ${latest.day}.`,
  })
}

const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
