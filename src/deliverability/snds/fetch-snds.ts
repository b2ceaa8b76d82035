import type { Kysely } from 'kysely'
import { Fault, messageOf } from '../../errors.ts'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import {
  isPage,
  parseSndsData,
  parseSndsStatus,
  type SndsReport,
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
import { AccessProblem, retryAfterSeconds } from '../provider-access/access-problem.ts'
import { recordProblem, recordSuccess } from '../provider-access/record-outcome.ts'
import { reportSndsChanges } from './snds-alerts.ts'
import { decryptLinks, type SndsLinks } from './snds-links.ts'
import {
  listLatestSndsDays,
  listSndsBlocks,
  replaceSndsBlocks,
  saveSndsDays,
  type SndsAccessRow,
} from './snds.sql.ts'

export type SndsDeps = {
  db: Kysely<DB>
  secretKey: string
  /** Sends requests to Microsoft. */
  requestMicrosoft: GuardedFetch
}

const MAX_ADDRESSES = 5_000

/** Fetches what Microsoft says of the addresses of a workspace, and plans the next time. */
export async function fetchSnds(
  deps: SndsDeps,
  access: SndsAccessRow,
  signal: AbortSignal,
): Promise<void> {
  const { db } = deps
  const { workspaceId } = access
  try {
    const links = readLinks(deps, access)
    const data = await readReport(deps, access, { link: links.data, parse: parseSndsData }, signal)
    if (data) await saveSndsDays(db, workspaceId, data.rows)
    if (links.status !== null) {
      const status = { link: links.status, parse: parseSndsStatus }
      const blocks = (await readReport(deps, access, status, signal))?.rows ?? []
      const kept = blocks.slice(0, MAX_SNDS_BLOCKS)
      await db.transaction().execute((trx) => replaceSndsBlocks(trx, workspaceId, kept))
    }
    const since = new Date(Date.now() - RECENT_STATISTICS_DAYS * DAY_MS).toISOString().slice(0, 10)
    const days = await listLatestSndsDays(db, workspaceId, { since, limit: MAX_ADDRESSES })
    const blocks = await listSndsBlocks(db, workspaceId)
    await reportSndsChanges(db, workspaceId, { days, blocks })
    await recordSuccess(db, 'snds_access', workspaceId, SNDS_INTERVAL_SECONDS)
  } catch (error) {
    if (signal.aborted || !(error instanceof AccessProblem)) throw error
    await recordProblem(db, 'snds_access', workspaceId, error)
  }
}

function readLinks({ secretKey }: SndsDeps, access: SndsAccessRow): SndsLinks {
  const links = ifDecryptable(() => decryptLinks(access, secretKey))
  if (links) return links
  throw new AccessProblem('ended', 'The links were encrypted with another key. Enter them again.')
}

type Wanted<Row> = { link: string; parse: (text: string) => SndsReport<Row> }

/** @returns null where Microsoft has no data @throws AccessProblem */
async function readReport<Row>(
  { requestMicrosoft }: SndsDeps,
  { enteredAt }: SndsAccessRow,
  { link, parse }: Wanted<Row>,
  signal: AbortSignal,
): Promise<SndsReport<Row> | null> {
  const response = await requestMicrosoft(link, { headers: { accept: 'text/csv' }, signal }).catch(
    (error: unknown) => {
      signal.throwIfAborted()
      if (error instanceof Fault) throw new AccessProblem('later', messageOf(error))
      throw error
    },
  )
  const { status } = response
  // The portal says the same of a day without data and of a link that has expired.
  if (status === 404 && !isExpired(enteredAt)) return null
  if (status !== 200) throw rejectionOf(status, response.headers.get('retry-after'))
  const text = await response.text()
  if (isPage(response.headers.get('content-type'), text)) throw ended('It leads to a page now.')
  const report = parse(text)
  const [rejected] = report.rejected
  if (report.rows.length === 0 && rejected)
    throw new AccessProblem(
      'later',
      `Microsoft SNDS sent a file that can’t be read: line ${rejected.line} has ${rejected.reason}.`,
    )
  return report
}

const isExpired = (enteredAt: Date) => enteredAt.getTime() <= Date.now() - SNDS_LINK_DAYS * DAY_MS

const ended = (reason: string) =>
  new AccessProblem(
    'ended',
    `The link of Microsoft SNDS no longer works. ${reason} Enter a new one.`,
  )

function rejectionOf(status: number, retryAfter: string | null): AccessProblem {
  if (status === 404) return ended(`It worked for ${SNDS_LINK_DAYS} days.`)
  if (status === 400) return ended('Microsoft says that it isn’t complete.')
  if (status === 401 || status === 403) return ended('Microsoft refuses the access.')
  if (status >= 300 && status < 400) return ended('It leads elsewhere now.')
  return new AccessProblem(
    'later',
    `Microsoft SNDS answered with ${status}.`,
    retryAfterSeconds(retryAfter),
  )
}
