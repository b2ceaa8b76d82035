import { createHash } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { GuardedFetch } from '../net/http/guarded-fetch.ts'
import { ADMINISTRATORS, notifyChange } from '../store/changes.ts'
import { notify } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.ts'
import { decodeNetworkSet, encodeNetworkSet } from '../protocols/networks/encode-set.ts'
import { createNetworkSet, EMPTY_SET, findOverlapping, countNetworks } from '../protocols/networks/network-set.ts' // prettier-ignore
import type { PublicFeed } from './feed-catalogue.ts'
import { evaluateVersion } from './evaluate-version.ts'
import { fetchFiles, type FeedFiles } from './fetch-files.ts'
import { describeSizes, EMPTY_VERSION, OUTDATED } from './messages.ts'
import { MalformedFeed, parseFeed } from './parse-feed.ts'
import { reportProblemChange } from './report-problem.ts'
import {
  saveConfirmed,
  saveFailure,
  saveRejected,
  saveVersion,
  type ClaimedFeed,
  type FeedProblem,
  type FeedVersion,
} from './public-feeds.sql.ts'

/** The notification that a feed has changed. */
export const FEEDS_CHANGED = 'abuse.public-feeds'

/** Failures in a row after which a provider counts as unreachable. */
const FAILURES_TO_REPORT = 3

/** The first pause after a failure; it doubles with each one, up to the interval of the feed. */
const RETRY_MS = 15 * MINUTE_MS

export type UpdateDeps = {
  db: Kysely<DB>
  log: Logger
  clock: () => number
  request: GuardedFetch
  /** Where the feeds are downloaded from, when not from their providers. */
  origins?: ReadonlyMap<string, string> | undefined
}

/** Downloads a feed and decides whether the new version is used. */
export async function updateFeed(
  deps: UpdateDeps,
  feed: PublicFeed,
  claimed: ClaimedFeed,
  signal: AbortSignal,
): Promise<void> {
  const urls = feed.urls.map((url) => throughOrigins(url, deps.origins))
  let files: FeedFiles
  try {
    files = await fetchFiles(urls, claimed.validators, { request: deps.request, signal })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (signal.aborted) return
    return recordFailure(deps, feed, claimed, error)
  }
  const now = deps.clock()
  const times = { at: new Date(now), dueAt: new Date(now + feed.intervalHours * HOUR_MS) }
  const save = saverOf(deps, feed, claimed)
  const hash = files && hashOf(files.texts)
  if (!files || (claimed.hash && hash?.equals(claimed.hash)))
    return save(staleness(feed, claimed, now), (trx, problem) =>
      saveConfirmed(trx, feed.id, { ...times, ...problem }),
    )
  const { validators, texts } = files
  const version = readVersion(feed, texts, claimed, times.at)
  if (version instanceof MalformedFeed)
    return save({ problem: 'malformed', detail: version.message }, (trx, problem) =>
      saveRejected(trx, feed.id, { ...times, held: null, ...problem }),
    )
  const before = claimed.networks === null ? null : claimed.networkCount
  const problem = evaluateVersion(feed, before, version.networkCount)
  if (problem === null)
    return save(null, (trx) => saveVersion(trx, feed.id, { ...version, ...times, validators }))
  const sizes = { before: before ?? 0, after: version.networkCount }
  const detail = problem === 'malformed' ? EMPTY_VERSION : describeSizes(sizes)
  await save({ problem, detail }, (trx, found) =>
    saveRejected(trx, feed.id, {
      ...times,
      held: problem === 'malformed' ? null : version,
      ...found,
    }),
  )
}

/** Files of a feed as a version, in which networks of the version in use keep their age. */
function readVersion(
  feed: PublicFeed,
  texts: string[],
  { networks: encoded }: ClaimedFeed,
  at: Date,
): FeedVersion | MalformedFeed {
  try {
    const { networks, skipped } = parseFeed(feed.format, texts)
    const before = encoded ? decodeNetworkSet(encoded) : EMPTY_SET
    const seconds = Math.floor(at.getTime() / SECOND_MS)
    const set = createNetworkSet(
      networks.map((network) => {
        const known = findOverlapping(before, network)
        const isSame = known?.start === network.start && known.bits === network.bits
        return { ...network, since: isSame ? known.since : seconds }
      }),
    )
    const counts = { networkCount: countNetworks(set), skippedCount: skipped }
    return { networks: encodeNetworkSet(set), hash: hashOf(texts), ...counts }
  } catch (error) {
    if (error instanceof MalformedFeed) return error
    throw error
  }
}

function hashOf(texts: string[]): Buffer {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text).update('\0')
  return hash.digest()
}

type FoundProblem = { problem: FeedProblem; detail: string }
type SavedProblem = { problem: FeedProblem | null; problemText: string; problemAt: Date | null }

/** The problem of a feed whose version in use has been the latest one for too long. */
function staleness(
  { staleAfterHours }: PublicFeed,
  { changedAt }: ClaimedFeed,
  now: number,
): FoundProblem | null {
  if (!changedAt || now - changedAt.getTime() < staleAfterHours * HOUR_MS) return null
  return { problem: 'outdated', detail: OUTDATED }
}

async function recordFailure(
  deps: UpdateDeps,
  feed: PublicFeed,
  claimed: ClaimedFeed,
  fault: Fault,
): Promise<void> {
  const now = deps.clock()
  const failures = claimed.failures + 1
  const pause = Math.min(RETRY_MS * 2 ** claimed.failures, feed.intervalHours * HOUR_MS)
  const dueAt = new Date(now + Math.max(pause, (fault.retryAfter ?? 0) * SECOND_MS))
  const { problem, problemText } = claimed
  const known = problem && { problem, detail: problemText }
  const found =
    failures >= FAILURES_TO_REPORT ? { problem: 'unreachable' as const, detail: fault.message } : known // prettier-ignore
  deps.log.warn({ feed: feed.id, reason: fault.message }, 'a public feed could not be downloaded')
  await saverOf(
    deps,
    feed,
    claimed,
  )(found, (trx, saved) =>
    saveFailure(trx, feed.id, { at: new Date(now), dueAt, failures, ...saved }),
  )
}

/** Saves the outcome of an update, and reports a problem that begins or ends. */
function saverOf({ db, clock }: UpdateDeps, feed: PublicFeed, before: ClaimedFeed) {
  return async (
    found: FoundProblem | null,
    save: (trx: Transaction<DB>, problem: SavedProblem) => Promise<void>,
  ): Promise<void> => {
    const now = new Date(clock())
    const isSame = found?.problem === before.problem
    const saved = {
      problem: found?.problem ?? null,
      problemText: found?.detail ?? '',
      problemAt: found ? (isSame ? before.problemAt : now) : null,
    }
    await db.transaction().execute(async (trx) => {
      await save(trx, saved)
      await reportProblemChange(trx, feed, before, saved, now)
      await notify(trx, FEEDS_CHANGED, feed.id)
      await notifyChange(trx, ADMINISTRATORS, 'administration')
    })
  }
}

function throughOrigins(url: string, origins: ReadonlyMap<string, string> | undefined): string {
  const { origin, pathname, search } = new URL(url)
  const other = origins?.get(origin)
  return other === undefined ? url : `${other}${pathname}${search}`
}
