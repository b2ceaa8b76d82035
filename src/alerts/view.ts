import { isAtLeast, type Role } from '../http/access.ts'
import { alertLink } from './alert-link.ts'
import type { SendDeps } from './channels/channel-type.ts'
import { CHANNEL_TYPES } from './channels/registry.ts'
import type { ChannelRow } from './channels/store.ts'
import type { DeliveryRow } from './delivery/store.ts'
import type { IncidentRow } from './incidents/store.ts'
import type { ListedAlertRow } from './store.ts'

/** Presents a channel for the API, to a member of this role. */
export function presentChannel(row: ChannelRow, deps: Pick<SendDeps, 'relay'>, role: Role) {
  const type = CHANNEL_TYPES[row.type]
  const typeProblem = type.problem(deps)
  return {
    ...row,
    address: null,
    url: null,
    [type.targetField]: isAtLeast(role, 'member') ? row.target : type.maskTarget(row.target),
    secret: undefined,
    status: typeProblem ? ('undeliverable' as const) : statusOf(row),
    problem: typeProblem ?? row.disabledReason ?? row.lastError,
  }
}

function statusOf({ enabled, disabledReason, confirmedAt }: ChannelRow) {
  if (disabledReason !== null) return 'disabled'
  if (!enabled) return 'off'
  return confirmedAt ? 'active' : 'unconfirmed'
}

export function presentAlerts(
  alerts: ListedAlertRow[],
  deliveries: DeliveryRow[],
  baseUrl: string,
) {
  const byAlert = Map.groupBy(deliveries, ({ alertId }) => alertId)
  return alerts.map(({ resolvedAt, ...alert }) => ({
    ...alert,
    state: alert.incidentId === null ? null : stateOf(resolvedAt),
    url: alertLink(alert, baseUrl),
    deliveries: (byAlert.get(alert.id) ?? []).map(presentDelivery),
  }))
}

export function presentIncident({ resolvedAt, ...incident }: IncidentRow, baseUrl: string) {
  return {
    ...incident,
    resolvedAt,
    state: stateOf(resolvedAt),
    url: alertLink(incident, baseUrl),
  }
}

function stateOf(resolvedAt: Date | null) {
  return resolvedAt === null ? 'open' : 'resolved'
}

function presentDelivery({ state, ...delivery }: DeliveryRow) {
  return { ...delivery, status: state === 'handed-over' ? 'sending' : state }
}
