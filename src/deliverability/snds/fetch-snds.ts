import type { Kysely } from 'kysely'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import {
  isPage,
  parseSndsData,
  parseSndsStatus,
  type SndsBlock,
  type SndsReport,
  type SndsRow,
} from '../../protocols/reports/snds-report.ts'
import { ifDecryptable } from '../../store/encryption.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_MS } from '../../time.ts'
import {
  MAX_SNDS_BLOCKS,
  RECENT_STATISTICS_DAYS,
  SNDS_INTERVAL_SECONDS,
  SNDS_LINK_DAYS,
} from '../limits.ts'
import { AccessProblem } from '../provider-access/access-problem.ts'
import { askProvider } from '../provider-access/ask-provider.ts'
import { recordProblem, recordSuccess } from '../provider-access/record-outcome.ts'
import { reportSndsChanges } from './snds-alerts.ts'
import { decryptLinks, type SndsLinks } from './snds-links.ts'
import {
  listLatestSndsDays,
  listSndsBlocks,
  replaceSndsBlocks,
  saveSndsDays,
  saveUnreadable,
  type SndsAccessRow,
  type SndsTable,
} from './snds.sql.ts'

export type SndsDeps = {
  db: Kysely<DB>
  secretKey: string
  /** Sends requests to Microsoft. */
  requestMicrosoft: GuardedFetch
}

const MAX_ADDRESSES = 5_000

/** The reports of an access. */
type SndsReports = {
  days(): AsyncIterable<SndsReport<SndsRow>>
  /** Null where Microsoft has no abnormal status, undefined where nothing is known of it. */
  status(): Promise<SndsReport<SndsBlock> | null | undefined>
}

/** Fetches what the links of a workspace lead to, and plans the next time. */
export async function fetchSndsLinks(
  deps: SndsDeps,
  access: SndsAccessRow,
  signal: AbortSignal,
): Promise<void> {
  const read = async <Row>(link: string, parse: (text: string) => SndsReport<Row>) => {
    const text = await readLink(deps, access, link, signal)
    return text === null ? null : requireReadable(parse(text))
  }
  await fetchReports(deps, 'snds_access', access.workspaceId, signal, {
    async *days() {
      const report = await read(readLinks(deps, access).data, parseSndsData)
      if (report) yield report
    },
    async status() {
      const { status } = readLinks(deps, access)
      return status === null ? undefined : read(status, parseSndsStatus)
    },
  })
}

/** Stores what Microsoft says of the addresses of a workspace, with alerts about what got worse. */
export async function fetchReports(
  { db }: SndsDeps,
  table: SndsTable,
  workspaceId: string,
  signal: AbortSignal,
  reports: SndsReports,
): Promise<void> {
  const read: SndsReport<unknown>[] = []
  try {
    for await (const report of reports.days()) {
      read.push({ ...report, rows: [] })
      // All of a day, or none: a day that is stored is not fetched again.
      await db.transaction().execute((trx) => saveSndsDays(trx, workspaceId, report.rows))
    }
    const status = await reports.status()
    if (status !== undefined) {
      read.push({ rejected: [], rejectedCount: 0, ...status, rows: [] })
      const kept = (status?.rows ?? []).slice(0, MAX_SNDS_BLOCKS)
      await db.transaction().execute((trx) => replaceSndsBlocks(trx, workspaceId, kept))
    }
    const since = new Date(Date.now() - RECENT_STATISTICS_DAYS * DAY_MS).toISOString().slice(0, 10)
    const days = await listLatestSndsDays(db, workspaceId, { since, limit: MAX_ADDRESSES })
    const blocks = await listSndsBlocks(db, workspaceId)
    await reportSndsChanges(db, workspaceId, { days, blocks })
    await saveUnreadable(db, table, workspaceId, describeUnreadable(read))
    await recordSuccess(db, table, workspaceId, SNDS_INTERVAL_SECONDS)
  } catch (error) {
    if (signal.aborted || !(error instanceof AccessProblem)) throw error
    await recordProblem(db, table, workspaceId, error)
  }
}

/** @throws AccessProblem when nothing of a report can be read */
export function requireReadable<Row>(report: SndsReport<Row>): SndsReport<Row> {
  const [rejected] = report.rejected
  if (report.rows.length > 0 || !rejected) return report
  throw new AccessProblem(
    'later',
    `Microsoft SNDS sent a report that can’t be read: ${placeOf(rejected)}.`,
  )
}

const placeOf = ({ line, reason }: { line: number; reason: string }) => `line ${line} has ${reason}`

function describeUnreadable(reports: readonly SndsReport<unknown>[]): string | null {
  const count = reports.reduce((sum, { rejectedCount }) => sum + rejectedCount, 0)
  const [first] = reports.flatMap(({ rejected }) => rejected)
  if (!first) return null
  const lines =
    count === 1 ? '1 line of Microsoft’s reports' : `${count} lines of Microsoft’s reports`
  return `${lines} couldn’t be read, such as the one where ${placeOf(first)}.`
}

function readLinks({ secretKey }: SndsDeps, access: SndsAccessRow): SndsLinks {
  const links = ifDecryptable(() => decryptLinks(access, secretKey))
  if (links) return links
  throw new AccessProblem('ended', 'The links were encrypted with another key. Enter them again.')
}

/** @returns null where Microsoft has no data @throws AccessProblem */
async function readLink(
  { requestMicrosoft }: SndsDeps,
  { enteredAt }: SndsAccessRow,
  link: string,
  signal: AbortSignal,
): Promise<string | null> {
  const init = { headers: { accept: 'text/csv' }, signal }
  const { status, text, contentType, retryAfter } = await askProvider(requestMicrosoft, link, init)
  // The portal says the same of a day without data and of a link that has expired.
  if (status === 404 && !isExpired(enteredAt)) return null
  if (status !== 200) throw rejectionOf(status, retryAfter)
  if (isPage(contentType, text)) throw ended('It leads to a page now.')
  return text
}

const isExpired = (enteredAt: Date) => enteredAt.getTime() <= Date.now() - SNDS_LINK_DAYS * DAY_MS

const ended = (reason: string) =>
  new AccessProblem(
    'ended',
    `The link of Microsoft SNDS no longer works. ${reason} Enter a new one.`,
  )

function rejectionOf(status: number, retryAfter: number | null): AccessProblem {
  if (status === 404) return ended(`It worked for ${SNDS_LINK_DAYS} days.`)
  if (status === 400) return ended('Microsoft says that it isn’t complete.')
  if (status === 401 || status === 403) return ended('Microsoft refuses the access.')
  if (status >= 300 && status < 400) return ended('It leads elsewhere now.')
  return new AccessProblem('later', `Microsoft SNDS answered with ${status}.`, retryAfter)
}
