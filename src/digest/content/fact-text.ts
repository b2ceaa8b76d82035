/** `24 Nov 2026`, in this time zone. */
export function dayText(at: Date, timeZone: string): string {
  return formatIn(timeZone, 'day').format(at)
}

/** `Monday 30 Nov 2026, 08:00 (Europe/Berlin)` */
export function timeText(at: Date, timeZone: string): string {
  const weekday = formatIn(timeZone, 'weekday').format(at)
  const clock = formatIn(timeZone, 'clock').format(at)
  return `${weekday} ${dayText(at, timeZone)}, ${clock} (${timeZone})`
}

/** `16–22 Nov`, or `28 Nov – 4 Dec`, for UTC days such as `2026-11-16`. */
export function daysText({ from, to }: { from: string; to: string }): string {
  const format = (day: string, form: Form) =>
    formatIn('UTC', form).format(new Date(`${day}T00:00:00Z`))
  return from.slice(0, 7) === to.slice(0, 7)
    ? `${format(from, 'dayOfMonth')}–${format(to, 'dayAndMonth')}`
    : `${format(from, 'dayAndMonth')} – ${format(to, 'dayAndMonth')}`
}

const FORMS = {
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  weekday: { weekday: 'long' },
  clock: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  dayOfMonth: { day: 'numeric' },
  dayAndMonth: { day: 'numeric', month: 'short' },
} satisfies Record<string, Intl.DateTimeFormatOptions>

type Form = keyof typeof FORMS

/** Creating a formatter takes longer than using it. */
const formatters = new Map<string, Intl.DateTimeFormat>()
const MAX_FORMATTERS = 100

function formatIn(timeZone: string, form: Form): Intl.DateTimeFormat {
  const key = `${form} ${timeZone}`
  const known = formatters.get(key)
  if (known) return known
  if (formatters.size >= MAX_FORMATTERS) formatters.clear()
  const formatter = new Intl.DateTimeFormat('en-GB', { timeZone, ...FORMS[form] })
  formatters.set(key, formatter)
  return formatter
}
