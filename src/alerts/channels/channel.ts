import type { Row } from '../../store/row.ts'
import type { QuietHours } from '../quiet-hours.ts'
import type { Severity } from '../severity.ts'

export const CHANNEL = [
  'id',
  'workspaceId',
  /** ID of a channel type. */
  'type',
  /** An address; for types with encrypted settings a hash of them, of a webhook with its server. */
  'target',
  'settingsEncrypted',
  'settingsShown',
  'minSeverity',
  /** Whether critical alerts are sent during quiet hours. */
  'criticalAnytime',
  'deadAt',
  'label',
  'kinds',
  'quietHours',
  /** Whether messages contain links with which anyone can act on an incident. */
  'actionLinks',
  'secret',
  'confirmedAt',
  'enabled',
  'disabledReason',
  'failingSince',
  'lastError',
  'lastSentAt',
  'createdAt',
] as const

export type ChannelRow = Row<
  'alertChannel',
  typeof CHANNEL,
  {
    /** What may be shown of the settings; null for types without encrypted ones. */
    settingsShown: Record<string, string> | null
    /** Alerts that are less urgent are not sent; null for all. */
    minSeverity: Severity | null
    quietHours: QuietHours | null
  }
>

/** What distinguishes a channel from others of its workspace, and what is kept of its settings. */
export type PreparedChannel = {
  target: string
  secret: string | null
  settingsEncrypted: string | null
  settingsShown: Record<string, string> | null
}

export type ChannelSettings = Partial<
  Pick<
    ChannelRow,
    'label' | 'kinds' | 'quietHours' | 'enabled' | 'minSeverity' | 'criticalAnytime' | 'actionLinks'
  >
>

/** Context under which a channel’s secret is encrypted. */
export function secretContext(channelId: string): string {
  return `alert-channel/${channelId}`
}

/** The incident of a channel that the service disabled. */
export function channelIncident(channelId: string): string {
  return `channel/${channelId}`
}
