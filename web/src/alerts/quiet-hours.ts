import { quiet as messages } from './messages.ts'

type Values = Record<string, string>

/** The hours of the form’s `QuietFields`; null where there are none. */
export function quietHoursOf(
  values: Values,
): { from: string; to: string; timeZone: string } | null {
  const { quiet, from = '', to = '', timeZone = 'UTC' } = values
  return quiet === 'on' ? { from, to, timeZone } : null
}

/** Error messages by field; empty when the input is valid. */
export function wrongQuietHours({ quiet, from, to }: Values): Values {
  if (quiet !== 'on') return {}
  return {
    ...(!from && { from: messages.enterTime('22:00') }),
    ...(!to && { to: messages.enterTime('07:00') }),
  }
}
