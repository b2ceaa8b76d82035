import { NO_RELAY } from './channels/email.ts'
import type { ChannelRow } from './channels/store.ts'
import { linkOf } from './link.ts'
import type { DeliveryRow } from './messages/store.ts'
import type { AlertRow } from './store.ts'

/** A channel as the API shows it. */
export function shownChannel(row: ChannelRow, canMail: boolean) {
  const { type, target } = row
  const status = statusOf(row, canMail)
  return {
    ...row,
    address: type === 'email' ? target : null,
    url: type === 'webhook' ? target : null,
    secret: undefined,
    status,
    problem: status === 'undeliverable' ? NO_RELAY : (row.disabledReason ?? row.lastError),
  }
}

function statusOf({ type, enabled, disabledReason, confirmedAt }: ChannelRow, canMail: boolean) {
  if (type === 'email' && !canMail) return 'undeliverable'
  if (disabledReason !== null) return 'disabled'
  if (!enabled) return 'off'
  return confirmedAt ? 'active' : 'unconfirmed'
}

export function shownAlerts(alerts: AlertRow[], deliveries: DeliveryRow[], baseUrl: string) {
  const byAlert = Map.groupBy(deliveries, ({ alertId }) => alertId)
  return alerts.map((alert) => ({
    ...alert,
    url: linkOf(alert, baseUrl),
    deliveries: (byAlert.get(alert.id) ?? []).map(shownDelivery),
  }))
}

function shownDelivery({ state, ...delivery }: DeliveryRow) {
  return { ...delivery, status: state === 'handed-over' ? 'sending' : state }
}
