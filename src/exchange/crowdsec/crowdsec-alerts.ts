import { messageOf } from '../../errors.ts'
import { DAY_MS } from '../../time.ts'
import type { AttackReport } from '../../abuse/intake/record-report.ts'
import { readSubject } from '../../abuse/subject.ts'
import { serviceOfScenario } from './scenarios.ts'

/** An alert of CrowdSec, as its agents and its notification plugin send it. */
export type Alert = {
  scenario?: string | undefined
  events_count?: number | undefined
  start_at?: string | undefined
  stop_at?: string | undefined
  simulated?: boolean | undefined
  remediation?: boolean | undefined
  source?: {
    scope?: string | undefined
    value?: string | undefined
    ip?: string | undefined
  } | null
  decisions?: { origin?: string | undefined; simulated?: boolean | undefined }[] | null
}

export type AlertOutcome = { report: AttackReport } | { skipped: string }

const MAX_COUNT = 100_000

/** The report that an alert makes, or why it makes none. */
export function reportOfAlert(alert: Alert, now: number): AlertOutcome {
  const { scenario = '', source, simulated, remediation, events_count: events = 1 } = alert
  if (simulated || alert.decisions?.some((decision) => decision.simulated))
    return { skipped: 'It is a simulation.' }
  if (remediation === false) return { skipped: 'The scenario asks for no remediation.' }
  if (alert.decisions?.some(({ origin = '' }) => !['', 'crowdsec'].includes(origin)))
    return { skipped: 'It is a manual decision or one of a list.' }
  // An agent that reads old log files reports attacks of long ago.
  const at = Date.parse(alert.stop_at ?? '')
  if (now - at > DAY_MS) return { skipped: 'It is older than a day.' }
  if (source?.scope?.toLowerCase() !== 'ip') return { skipped: 'Its source is not an address.' }
  try {
    const subject = readSubject(source.value || source.ip || '')
    const count = Math.min(MAX_COUNT, Math.max(1, Math.round(events) || 1))
    return { report: { subject, service: serviceOfScenario(scenario).id, port: null, count } }
  } catch (error) {
    return { skipped: messageOf(error) }
  }
}
