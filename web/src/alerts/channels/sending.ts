import { ALERT_KINDS } from '../messages.ts'
import type { AlertChannelType, Channel, ChannelSettings } from '../api.ts'
import { quietHoursOf } from '../quiet-hours.ts'

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
  const quietHours = quietHoursOf(values)
  return {
    label: values['label']?.trim() ?? '',
    kinds: isAll ? null : [...chosen, ...others],
    minSeverity: (values['minSeverity'] || null) as Channel['minSeverity'],
    quietHours,
    criticalAnytime: quietHours !== null && values['criticalAnytime'] === 'on',
    ...(hasActionLinks && { actionLinks: values['actionLinks'] === 'on' }),
  }
}
