import type { AttackList } from '../../abuse/attack-list.ts'
import type { SubmissionResult } from '../../abuse/intake/commit.ts'
import type { Reporter } from '../../abuse/reputation/reporter.ts'
import { reportOfAlert, type Alert } from './crowdsec-alerts.ts'

export type AlertsResult = {
  accepted: number
  skipped: { scenario: string; reason: string }[]
  /** Null when no alert made a report. */
  receipt: SubmissionResult | null
}

/** Reports the attackers of alerts, in one submission. */
export async function submitAlerts(
  { submit, clock }: Pick<AttackList, 'submit' | 'clock'>,
  alerts: Alert[],
  sender: { reporter: Reporter; tokenHash: string | null },
): Promise<AlertsResult> {
  const outcomes = alerts.map((alert) => ({ alert, outcome: reportOfAlert(alert, clock()) }))
  const reports = outcomes.flatMap(({ outcome }) => ('report' in outcome ? [outcome.report] : []))
  const skipped = outcomes.flatMap(({ alert, outcome }) =>
    'skipped' in outcome ? [{ scenario: alert.scenario ?? '', reason: outcome.skipped }] : [],
  )
  const receipt = reports.length === 0 ? null : await submit({ ...sender, reports })
  return { accepted: reports.length, skipped, receipt }
}
