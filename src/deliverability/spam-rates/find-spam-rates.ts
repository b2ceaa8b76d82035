import { listPeriodsOfHosts, type PeriodRow } from '../../monitoring/history/host-history.sql.ts'
import type { Db } from '../../store/database.ts'
import { DAY_MS } from '../../time.ts'
import { findProviders } from '../complaints/find-providers.ts'
import { FEEDBACK_LOOPS } from '../complaints/feedback-loops.ts'
import { MAX_DOMAIN_ADDRESSES } from '../limits.ts'
import { describeRequirement } from '../postmaster/requirements.ts'
import { listPostmasterDays, listPostmasterDomains } from '../postmaster/postmaster.sql.ts'
import { listSndsDays, type SndsDayRow } from '../snds/snds.sql.ts'
import { listDmarcDays, listDomainAddresses, listHostIds } from './domain-facts.sql.ts'
import type { ProviderRates } from './shapes.ts'
import { listSpamRateLevels } from './spam-rate-alerts.sql.ts'

/** A spam rate of a day as a range from 0 to 1: most providers say one number, some two. */
type RateDay = ProviderRates['days'][number]

const MAX_HOSTS = 200
const MAX_PERIODS = 500

/** What providers say of a domain, day by day, beside what is known of it here. */
export async function findSpamRates(
  db: Db,
  subject: { workspaceId: string; domain: string },
  count: number,
) {
  const now = new Date()
  const days = Array.from({ length: count }, (_, index) =>
    new Date(now.getTime() - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  )
  const since = days[0] as string
  const { domain, workspaceId } = subject
  const addresses = await listDomainAddresses(db, subject, { since, limit: MAX_DOMAIN_ADDRESSES })
  const [google, domains, complaints, snds, levels, dmarc, listings] = await Promise.all([
    listPostmasterDays(db, subject, since),
    listPostmasterDomains(db, workspaceId),
    findProviders(db, { ...subject, days: count }, now),
    listSndsDays(db, workspaceId, addresses, since),
    listSpamRateLevels(db, workspaceId, domain),
    listDmarcDays(db, subject, since),
    findListings(db, subject, days),
  ])
  const own = domains.find((each) => each.domain === domain)
  const latest = new Map(snds.map((row) => [row.address, row]))
  return {
    domain,
    days,
    providers: [
      ...(google.some(({ spamRate }) => spamRate !== null) ? [googleRates(google)] : []),
      ...complaints.flatMap(complaintRates),
      ...(snds.some(({ complaintLow }) => complaintLow !== null) ? [sndsRates(snds)] : []),
    ],
    alerts: levels,
    dmarc,
    listings,
    google: {
      state: own?.state ?? null,
      problem: own?.problem ?? null,
      days: google,
      evaluatedDomain: own?.compliance?.domain || null,
      evaluatedAt: own?.complianceAt ?? null,
      requirements: (own?.compliance?.requirements ?? []).map(describeRequirement),
    },
    addresses: [...latest.values()],
  }
}

function googleRates(days: readonly { day: string; spamRate: number | null }[]): ProviderRates {
  return {
    provider: 'google',
    source: 'postmaster',
    name: 'Google (Postmaster Tools)',
    days: days.flatMap(({ day, spamRate: rate }) =>
      rate === null ? [] : [{ day, low: rate, high: rate }],
    ),
  }
}

/** Of days on which the DMARC reports of the provider count messages: others are not known. */
function complaintRates({
  provider,
  name,
  days,
}: Awaited<ReturnType<typeof findProviders>>[number]): ProviderRates[] {
  if (provider === null || !FEEDBACK_LOOPS.some(({ id }) => id === provider)) return []
  const known = days.flatMap(({ day, complaints, messages }) => {
    if (messages === null || messages === 0) return []
    const rate = Math.min(1, complaints / messages)
    return [{ day, low: rate, high: rate }]
  })
  return known.length === 0 ? [] : [{ provider, source: 'complaints', name, days: known }]
}

/** The worst range of a day among the addresses. */
function sndsRates(rows: readonly SndsDayRow[]): ProviderRates {
  const days = new Map<string, RateDay>()
  for (const { day, complaintLow: low, complaintHigh: high } of rows) {
    if (low === null) continue
    const found = days.get(day)
    if (!found || low > found.low || (low === found.low && (high ?? 1) > (found.high ?? 1)))
      days.set(day, { day, low, high })
  }
  return {
    provider: 'microsoft',
    source: 'snds',
    name: 'Microsoft (SNDS)',
    days: [...days.values()],
  }
}

/** How many monitored hosts of the domain were listed on a day; days without a check are missing. */
async function findListings(
  db: Db,
  subject: { workspaceId: string; domain: string },
  days: readonly string[],
): Promise<{ day: string; hosts: number; listed: number }[]> {
  const ids = await listHostIds(db, subject, MAX_HOSTS)
  const since = new Date(`${days[0]}T00:00:00Z`)
  const periods = await listPeriodsOfHosts(db, ids, since, MAX_PERIODS)
  return days.flatMap((day) => {
    const begin = Date.parse(`${day}T00:00:00Z`)
    const overlaps = ({ from, to }: PeriodRow) =>
      from.getTime() < begin + DAY_MS && to.getTime() > begin
    const known = periods.filter((period) => period.state !== 'unknown' && overlaps(period))
    const count = (rows: typeof known) => new Set(rows.map(({ hostId }) => hostId)).size
    const hosts = count(known)
    if (hosts === 0) return []
    return [{ day, hosts, listed: count(known.filter(({ state }) => state === 'listed')) }]
  })
}
