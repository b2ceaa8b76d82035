import type { ReadAccessToken } from '../../mail-credentials/access-token.ts'
import { parseSndsData, parseSndsStatus } from '../../protocols/reports/snds-report.ts'
import { DAY_MS } from '../../time.ts'
import { SNDS_DAYS, SNDS_FIRST_DAYS } from '../limits.ts'
import { tokensOf } from '../provider-access/ask-provider.ts'
import { fetchReports, requireReadable, type SndsDeps } from './fetch-snds.ts'
import { createSndsApi } from './snds-api.ts'
import { listMissingSndsDays, type SndsSignInRow } from './snds.sql.ts'

type SndsSignInDeps = SndsDeps & { readToken: ReadAccessToken }

/** Fetches the days that are missing with the sign-in of a person, and plans the next time. */
export async function fetchSndsSignIn(
  deps: SndsSignInDeps,
  access: SndsSignInRow,
  signal: AbortSignal,
): Promise<void> {
  const { db, readToken, requestMicrosoft } = deps
  const { workspaceId, fetchedAt } = access
  const api = createSndsApi(
    requestMicrosoft,
    tokensOf(readToken, access, 'at Microsoft SNDS'),
    signal,
  )
  await fetchReports(deps, 'snds_sign_in', workspaceId, signal, {
    async *days() {
      const yesterday = dayBefore(1)
      const range = { first: dayBefore(daysSince(fetchedAt)), last: dayBefore(2) }
      // The day before may not have been complete when it was fetched.
      for (const day of [yesterday, ...(await listMissingSndsDays(db, workspaceId, range))]) {
        const text = await api.readDay(day)
        if (text !== null) yield requireReadable(parseSndsData(text, day))
      }
    },
    async status() {
      const text = await api.readStatus()
      return text === null ? null : requireReadable(parseSndsStatus(text))
    },
  })
}

/** How many days back reports may be missing. */
function daysSince(fetchedAt: Date | null): number {
  if (fetchedAt === null) return SNDS_FIRST_DAYS
  const days = Math.ceil((Date.now() - fetchedAt.getTime()) / DAY_MS)
  return Math.min(SNDS_FIRST_DAYS, SNDS_DAYS + Math.max(0, days))
}

const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
