import type { ChannelSettings, QuietHours } from './api.ts'
import { ALERT_KINDS } from './messages.ts'

/** The name of the field for a kind of alert. */
export const kindField = (kind: string) => `kind ${kind}`

/** What is set in a form, as the service takes it. All kinds chosen is all there are, those to come too. */
export function settingsOf(values: Record<string, string>, before: string[] | null): ChannelSettings {
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

/** What is wrong with what was typed, by field. */
export function wrongSettings(values: Record<string, string>): Record<string, string> {
  if (values['quiet'] !== 'on') return {}
  return {
    ...(!values['from'] && { from: 'Type a time, such as 22:00.' }),
    ...(!values['to'] && { to: 'Type a time, such as 07:00.' }),
  }
}
