import type { Db } from '../../store/database.ts'
import { DAY_MS } from '../../time.ts'
import type { RatedDay } from './complaint-rates.ts'
import {
  listFirstDays,
  listReportedMessages,
  sumByProviderDay,
  type ProviderDay,
  type SummaryFilter,
} from './complaints.sql.ts'
import { FEEDBACK_LOOPS, providerName } from './feedback-loops.ts'

/** Complaints of one provider. */
export type ComplaintProvider = {
  provider: string | null
  name: string
  /** Of reports that were authenticated. */
  complaints: number
  notSpam: number
  /** Complaints of reports that were not. */
  unverified: number
  /** The day of its first complaint to the workspace; before it, nothing is known. */
  firstDay: string | null
  /** From `firstDay` on, the present day included. */
  days: RatedDay[]
}

const MAX_PROVIDERS = 20

/** The providers that report complaints to a workspace, those with most complaints first. */
export async function findProviders(
  db: Db,
  filter: SummaryFilter,
  now: Date,
): Promise<ComplaintProvider[]> {
  const [sums, firstDays] = await Promise.all([
    sumByProviderDay(db, filter),
    listFirstDays(db, filter.workspaceId),
  ])
  const first = new Map(firstDays.map(({ provider, day }) => [provider, day]))
  const providers = new Set([...sums.map(({ provider }) => provider), ...first.keys()])
  const summaries = [...providers].map((provider) => {
    const own = sums.filter((sum) => sum.provider === provider)
    const firstDay = provider === null ? null : (first.get(provider) ?? null)
    return summaryOf(provider, own, firstDay, daysOf(filter.days, now))
  })
  const shown = summaries
    .toSorted((a, b) => b.complaints - a.complaints || b.unverified - a.unverified)
    .slice(0, MAX_PROVIDERS)
  return Promise.all(shown.map((summary) => addMessages(db, filter, summary)))
}

/** The last days up to the present one, in UTC. */
function daysOf(count: number, now: Date): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(now.getTime() - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  )
}

function summaryOf(
  provider: string | null,
  sums: readonly ProviderDay[],
  firstDay: string | null,
  days: readonly string[],
): ComplaintProvider {
  const verified = sums.filter(({ isVerified }) => isVerified)
  const total = (rows: readonly ProviderDay[], name: 'complaints' | 'notSpam') =>
    rows.reduce((sum, row) => sum + row[name], 0)
  const byDay = new Map(verified.map(({ day, complaints }) => [day, complaints]))
  return {
    provider,
    name: providerName(provider),
    complaints: total(verified, 'complaints'),
    notSpam: total(verified, 'notSpam'),
    unverified: total(sums, 'complaints') - total(verified, 'complaints'),
    firstDay,
    days: days
      .filter((day) => firstDay !== null && day >= firstDay)
      .map((day) => ({ day, complaints: byDay.get(day) ?? 0, messages: null })),
  }
}

/** Adds how many messages the provider counted, as far as its DMARC reports say. */
async function addMessages(
  db: Db,
  filter: SummaryFilter,
  summary: ComplaintProvider,
): Promise<ComplaintProvider> {
  const { domain } = filter
  const loop = FEEDBACK_LOOPS.find(({ id }) => id === summary.provider)
  if (domain === null || !loop || summary.days.length === 0) return summary
  const reported = await listReportedMessages(db, { ...filter, domain }, loop.reporters)
  const messages = new Map(reported.map((row) => [row.day, row.messages]))
  const days = summary.days.map((day) => ({ ...day, messages: messages.get(day.day) ?? null }))
  return { ...summary, days }
}
