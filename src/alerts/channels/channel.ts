import type { QuietHours } from '../quiet-hours.ts'
import type { Severity } from '../severity.ts'

export type ChannelRow = {
  id: string
  workspaceId: string
  /** ID of a channel type. */
  type: string
  /** An address; for types with encrypted settings a hash of them, of a webhook with its server. */
  target: string
  settingsEncrypted: string | null
  /** What may be shown of the settings; null for types without encrypted ones. */
  settingsShown: Record<string, string> | null
  label: string
  kinds: string[] | null
  /** Alerts that are less urgent are not sent; null for all. */
  minSeverity: Severity | null
  /** Whether critical alerts are sent during quiet hours. */
  criticalAnytime: boolean
  quietHours: QuietHours | null
  /** Whether messages contain links with which anyone can act on an incident. */
  actionLinks: boolean
  secret: string | null
  confirmedAt: Date | null
  enabled: boolean
  disabledReason: string | null
  failingSince: Date | null
  lastError: string | null
  deadAt: Date | null
  lastSentAt: Date | null
  createdAt: Date
}

/** What distinguishes a channel from others of its workspace, and what is kept of its settings. */
export type PreparedChannel = {
  target: string
  secret: string | null
  settingsEncrypted: string | null
  settingsShown: Record<string, string> | null
}

/** Columns of a `ChannelRow`. */
export const CHANNEL = [
  'id',
  'workspaceId',
  'type',
  'target',
  'settingsEncrypted',
  'settingsShown',
  'minSeverity',
  'criticalAnytime',
  'deadAt',
  'label',
  'kinds',
  'quietHours',
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
