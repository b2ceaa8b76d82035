import type { ChannelSettings, QuietHours } from './api.ts'
import { ALERT_KINDS, settings as messages } from './messages.ts'

/** Name of the form field for a topic. */
export const kindField = (kind: string) => `kind ${kind}`

/**
 * Request body for the form’s values. All topics selected means null: topics of later versions,
 * too.
 */
export function settingsOf(
  values: Record<string, string>,
  before: string[] | null,
): ChannelSettings {
  const chosen = Object.keys(ALERT_KINDS).filter((kind) => values[kindField(kind)] === 'on')
  const others = before?.filter((kind) => !(kind in ALERT_KINDS)) ?? []
  const isAll = chosen.length === Object.keys(ALERT_KINDS).length
  return {
    label: values['label']?.trim() ?? '',
    kinds: isAll ? null : [...chosen, ...others],
    quietHours: values['quiet'] === 'on' ? hoursOf(values) : null,
  }
}

function hoursOf(values: Record<string, string>): QuietHours {
  const { from = '', to = '', timeZone = 'UTC' } = values
  return { from, to, timeZone }
}

/** Error messages by field; empty when the input is valid. */
export function wrongSettings(values: Record<string, string>): Record<string, string> {
  if (values['quiet'] !== 'on') return {}
  return {
    ...(!values['from'] && { from: messages.enterTime('22:00') }),
    ...(!values['to'] && { to: messages.enterTime('07:00') }),
  }
}
