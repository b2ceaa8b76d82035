import type { ChannelRow } from '../../channels/channel.ts'
import type { AlertRow } from '../../alerts.sql.ts'
import { actionLabels } from '../messages.ts'
import { linkToken } from './silence-token.ts'

export const ACTIONS = ['acknowledge', 'snooze', 'mute'] as const
export type Action = (typeof ACTIONS)[number]

/** A link to a page on which people act on the incident of an alert. */
export type ActionLink = { label: string; url: string }

export type LinkDeps = { secretKey: string; baseUrl: string }

/** Path of the page; the token follows. */
export const LINK_PATH = '/alerts/act'

/** The page with all actions; null for an alert without an open incident, or without links. */
export function actionPageOf(
  { id, incidentId, phase }: AlertRow,
  { id: channelId, actionLinks }: Pick<ChannelRow, 'id' | 'actionLinks'>,
  { secretKey, baseUrl }: LinkDeps,
): string | null {
  const isOpen = incidentId !== null && (phase === 'open' || phase === 'update')
  if (!isOpen || !actionLinks) return null
  const token = linkToken.create(secretKey, { alertId: id, channelId })
  return `${baseUrl}${LINK_PATH}/${token}`
}

/** The links of a message with one alert; none for a message with several. */
export function actionLinksOf(
  alerts: readonly AlertRow[],
  channel: Pick<ChannelRow, 'id' | 'actionLinks'>,
  deps: LinkDeps,
): ActionLink[] {
  const [alert] = alerts
  const page = alert && alerts.length === 1 ? actionPageOf(alert, channel, deps) : null
  if (page === null) return []
  return ACTIONS.map((action) => ({ label: actionLabels[action], url: `${page}?do=${action}` }))
}
