import type { Db } from '../../store/database.ts'
import { MINUTE_MS } from '../../time.ts'
import type { Phase, Severity } from '../severity.ts'
import { MAX_ESCALATING_PER_WORKSPACE } from './limits.ts'
import { findRule } from './match.ts'
import { ruleQuietEnd } from './quiet.ts'
import { assignRule, findQuietRule, listRules, listUsableChannels } from './alert-rules.sql.ts'
import { findLabels } from './labelled-objects.sql.ts'

/** Where an alert goes. */
export type AlertRoute = {
  /** IDs of channels; null where the settings of the channels decide. */
  channels: string[] | null
  /** The rule whose quiet hours it waits for. */
  quietRuleId: string | null
}

export const DEFAULT_ROUTE: AlertRoute = { channels: null, quietRuleId: null }

type RoutedAlert = {
  workspaceId: string
  kind: string
  severity: Severity
  objects?: readonly string[] | undefined
}

/**
 * Finds the rule of an alert, records it on its incident and starts the escalation. The end of an
 * incident goes where its alerts went, and waits for the quiet hours of the same rule.
 */
export async function routeAlert(
  db: Db,
  alert: RoutedAlert,
  { id: incidentId, phase }: { id: string | null; phase: Phase },
): Promise<AlertRoute> {
  if (phase === 'resolved' && incidentId !== null)
    return { channels: null, quietRuleId: await findQuietRule(db, incidentId) }
  const rule = await findRuleOf(db, alert)
  if (incidentId !== null)
    await assignRule(
      db,
      incidentId,
      assignmentOf(rule, alert.severity),
      MAX_ESCALATING_PER_WORKSPACE,
    )
  if (!rule) return DEFAULT_ROUTE
  const passes = rule.criticalAnytime && alert.severity === 'critical'
  return { channels: rule.channels, quietRuleId: rule.quietHours && !passes ? rule.id : null }
}

type Rule = Awaited<ReturnType<typeof findRuleOf>>

/** The time of the first step does not run during quiet hours. */
function assignmentOf(rule: Rule, severity: Severity) {
  const first = rule?.escalation?.steps[0]
  if (!rule || !first) return { ruleId: rule?.id ?? null, escalatesAt: null }
  const now = new Date()
  const passes = rule.criticalAnytime && severity === 'critical'
  const start = (!passes && rule.quietHours && ruleQuietEnd(rule.quietHours, now)) || now
  return {
    ruleId: rule.id,
    escalatesAt: new Date(start.getTime() + first.afterMinutes * MINUTE_MS),
  }
}

async function findRuleOf(db: Db, { workspaceId, kind, severity, objects = [] }: RoutedAlert) {
  const rules = await listRules(db, workspaceId)
  if (rules.length === 0) return undefined
  const usesLabels = objects.length > 0 && rules.some(({ labels }) => labels !== null)
  const labels = usesLabels ? await findLabels(db, workspaceId, objects) : []
  const subject = { kind, severity, names: objects, labels }
  return findRule(rules, subject, await listUsableChannels(db, workspaceId))
}
