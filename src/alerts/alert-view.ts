import { Fault } from '../errors.ts'
import { isAtLeast, type Role } from '../http/access.ts'
import { alertLink, type LinkTarget } from './alert-link.ts'
import type { SendDeps } from './channels/channel-type.ts'
import { channelNameOf, targetNameOf } from './channels/channel-name.ts'
import { CHANNEL_TYPES, channelTypeOf } from './channels/channel-types.ts'
import { secretsOf } from './channels/fields.ts'
import type { ChannelRow } from './channels/channel.ts'
import type { DeliveryRow } from './delivery/alert-delivery.sql.ts'
import type { IncidentRow } from './incidents.sql.ts'
import { presentHandling } from './silence/silence-view.ts'
import type { HandlingRow } from './silence/handling/handling.sql.ts'
import type { ListedAlertRow } from './alerts.sql.ts'

type ChannelStatus = 'active' | 'unconfirmed' | 'off' | 'disabled'

/** Presents a channel for the API, to a member of this role. */
export function presentChannel(
  row: ChannelRow,
  deps: Pick<SendDeps, 'relay' | 'secretKey'>,
  { role, waiting }: { role: Role; waiting: number },
) {
  const type = channelTypeOf(row)
  const typeProblem = type.problem(deps)
  return {
    ...row,
    address: null,
    url: null,
    ...(type.targetField !== null && {
      [type.targetField]: shownTarget(row, deps, role),
    }),
    name: targetNameOf(row),
    settings: row.settingsShown,
    waiting,
    secret: undefined,
    settingsEncrypted: undefined,
    status: channelStatusOf(row, deps),
    problem: typeProblem ?? row.disabledReason ?? row.lastError,
  }
}

/** Whole for members who can change channels. One that this key does not decrypt is masked. */
function shownTarget(
  row: ChannelRow,
  { secretKey }: Pick<SendDeps, 'secretKey'>,
  role: Role,
): string {
  const type = channelTypeOf(row)
  if (!isAtLeast(role, 'member')) return type.maskTarget(row.target)
  try {
    return type.targetOf(row, secretKey)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return type.maskTarget(row.target)
  }
}

/** Whether a channel sends, and if not, why. */
export function channelStatusOf(row: ChannelRow, deps: Pick<SendDeps, 'relay'>) {
  return channelTypeOf(row).problem(deps) ? ('undeliverable' as const) : statusOf(row)
}

function statusOf({ enabled, disabledReason, confirmedAt }: ChannelRow): ChannelStatus {
  if (disabledReason !== null) return 'disabled'
  if (!enabled) return 'off'
  return confirmedAt ? 'active' : 'unconfirmed'
}

export function presentAlerts(
  alerts: ListedAlertRow[],
  deliveries: DeliveryRow[],
  target: LinkTarget,
) {
  const byAlert = Map.groupBy(deliveries, ({ alertId }) => alertId)
  return alerts.map(({ resolvedAt, ...alert }) => ({
    ...alert,
    state: alert.incidentId === null ? null : stateOf(resolvedAt),
    url: alertLink(alert, target),
    deliveries: (byAlert.get(alert.id) ?? []).map(presentDelivery),
  }))
}

export function presentIncident(
  { resolvedAt, ...incident }: IncidentRow,
  handling: HandlingRow | undefined,
  target: LinkTarget,
) {
  return {
    ...incident,
    ...presentHandling(handling),
    resolvedAt,
    state: stateOf(resolvedAt),
    url: alertLink(incident, target),
  }
}

function stateOf(resolvedAt: Date | null) {
  return resolvedAt === null ? 'open' : 'resolved'
}

/** What the form of a channel type needs. */
export function presentChannelTypes() {
  return CHANNEL_TYPES.map((type) => {
    const { id, name, group, keywords, docs, manual, hasActionLinks, fields } = type
    const required = new Set(fields.required as readonly string[] | undefined)
    const secrets = new Set(secretsOf(fields))
    return {
      id,
      name,
      group,
      keywords,
      docs,
      manual,
      hasSettings: type.change !== undefined,
      hasActionLinks,
      fields: Object.entries(fields.properties).map(([field, schema]) =>
        presentField(field, schema as FieldSchema, {
          required: required.has(field),
          secret: secrets.has(field),
        }),
      ),
      schema: JSON.parse(JSON.stringify(fields)) as Record<string, unknown>,
    }
  })
}

type FieldSchema = {
  'x-label'?: string
  description?: string
  'x-placeholder'?: string
  'x-multiline'?: boolean
  default?: string
  enum?: string[]
}

function presentField(
  name: string,
  {
    'x-label': label,
    'x-placeholder': placeholder,
    'x-multiline': multiline = false,
    description,
    default: value,
    enum: choices,
  }: FieldSchema,
  traits: { required: boolean; secret: boolean },
) {
  return {
    name,
    label: label ?? name,
    help: description ?? null,
    placeholder: placeholder ?? null,
    default: value ?? null,
    choices: choices ?? null,
    multiline,
    ...traits,
  }
}

function presentDelivery({ state, dropped, channel, at, error }: DeliveryRow) {
  const named =
    'name' in channel
      ? { channelId: null, type: channel.type, channel: channel.name }
      : { channelId: channel.id, type: channel.type, channel: channelNameOf(channel) }
  const status = dropped ? 'dropped' : state === 'handed-over' ? 'sending' : state
  return { ...named, status, at, error }
}
