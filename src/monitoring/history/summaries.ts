import type { Db } from '../../store/database.ts'
import type { CertificateState } from '../certificates/check-certificates.ts'
import { daysLeft } from '../certificates/messages.ts'
import {
  availabilityOf,
  availableSince,
  dailyStatesOf,
  periodsUntil,
  type Availability,
  type DayState,
} from './availability.ts'
import { readLastDays, type LastDays, type Period } from './host-history.sql.ts'

/** The last days of a host in a few numbers, for lists. */
export type HostSummary = {
  availability: Availability
  /** State on each UTC day, oldest first. */
  days: DayState[]
  /** Of its certificates with a problem, or else of all, the one that expires first. */
  certificate: { state: CertificateState; daysRemaining: number } | null
}

/** Summarizes a host, which may have been deleted. */
export async function summarizeHost(db: Db, hostId: string): Promise<HostSummary> {
  const lastDays = await readLastDays(db, hostId)
  return createSummarizer(new Date())(lastDays ?? { states: '', certificate: '' })
}

/** Summarizes hosts at one time. Those with the same last days share their summary. */
export function createSummarizer(now: Date): (row: LastDays) => HostSummary {
  const since = availableSince(now).getTime() / 1000
  const known = new Map<string, HostSummary>()
  return ({ states: all, certificate: text }) => {
    const states = statesFrom(all, since)
    const certificate = certificateOf(text, now)
    const key = `${states} ${certificate?.state} ${certificate?.daysRemaining}`
    const summary = known.get(key) ?? { ...summarizeStates(states, since, now), certificate }
    known.set(key, summary)
    return summary
  }
}

const ONE_STATE = /^\["([a-z]+)",([\d.]+)\]$/

/** The same text for hosts that had only one state since then, as most have. */
function statesFrom(states: string, since: number): string {
  const [, state, began] = ONE_STATE.exec(states) ?? []
  return state !== undefined && Number(began) <= since ? `["${state}",${since}]` : states
}

function summarizeStates(states: string, since: number, now: Date) {
  const begun = (JSON.parse(`[${states}]`) as [Period, number][]).map(
    ([state, seconds]): [Period, number] => [state, Math.max(seconds, since)],
  )
  const periods = periodsUntil(begun, now)
  return { availability: availabilityOf(periods), days: dailyStatesOf(periods, now) }
}

function certificateOf(text: string, now: Date): HostSummary['certificate'] {
  const [, validTo, state] = text.split(' ')
  if (validTo === undefined || state === undefined) return null
  return { state: state as CertificateState, daysRemaining: daysLeft({ validTo }, now) }
}
