import { ALERT_KINDS } from '../messages.ts'
import type { AlertChannelType, Channel, ChannelSettings, QuietHours } from '../api.ts'
import { sending as messages } from './messages.ts'

type Sending = Required<
  Pick<ChannelSettings, 'label' | 'kinds' | 'minSeverity' | 'criticalAnytime' | 'quietHours'>
> &
  Pick<ChannelSettings, 'actionLinks'>

/** Name of the form field for a topic. */
export const kindField = (kind: string) => `kind ${kind}`

/**
 * Which alerts a channel sends, for the form’s values. All topics selected means null: topics of
 * later versions, too.
 */
export function sendingOf(
  values: Record<string, string>,
  before: string[] | null,
  { hasActionLinks }: Pick<AlertChannelType, 'hasActionLinks'>,
): Sending {
  const chosen = Object.keys(ALERT_KINDS).filter((kind) => values[kindField(kind)] === 'on')
  const others = before?.filter((kind) => !(kind in ALERT_KINDS)) ?? []
  const isAll = chosen.length === Object.keys(ALERT_KINDS).length
  const isQuiet = values['quiet'] === 'on'
  return {
    label: values['label']?.trim() ?? '',
    kinds: isAll ? null : [...chosen, ...others],
    minSeverity: (values['minSeverity'] || null) as Channel['minSeverity'],
    quietHours: isQuiet ? hoursOf(values) : null,
    criticalAnytime: isQuiet && values['criticalAnytime'] === 'on',
    ...(hasActionLinks && { actionLinks: values['actionLinks'] === 'on' }),
  }
}

function hoursOf(values: Record<string, string>): QuietHours {
  const { from = '', to = '', timeZone = 'UTC' } = values
  return { from, to, timeZone }
}

/** Error messages by field; empty when the input is valid. */
export function wrongSending(values: Record<string, string>): Record<string, string> {
  if (values['quiet'] !== 'on') return {}
  return {
    ...(!values['from'] && { from: messages.enterTime('22:00') }),
    ...(!values['to'] && { to: messages.enterTime('07:00') }),
  }
}
