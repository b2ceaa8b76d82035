const MAX_CHARS = 200

/** Invisible characters that reorder or hide text: a name must not change what is around it. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu

/**
 * Makes one line of a text that may come from a stranger: without line breaks, control characters
 * and marks that change the direction of text, and of limited length.
 */
export function oneLine(text: string, maxChars = MAX_CHARS): string {
  const plain = text.replaceAll(INVISIBLE, ' ').replaceAll(/\s+/g, ' ').trim()
  const characters = Array.from(plain)
  return characters.length <= maxChars ? plain : `${characters.slice(0, maxChars - 1).join('')}…`
}

/** `24 Nov 2026`, in this time zone. */
export function dayText(at: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  }).format(at)
}

/** `Monday 30 Nov 2026, 08:00 (Europe/Berlin)` */
export function timeText(at: Date, timeZone: string): string {
  const of = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { timeZone, ...options }).format(at)
  const clock = of({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  return `${of({ weekday: 'long' })} ${dayText(at, timeZone)}, ${clock} (${timeZone})`
}

/** `16–22 Nov`, or `28 Nov – 4 Dec`, for UTC days such as `2026-11-16`. */
export function daysText({ from, to }: { from: string; to: string }): string {
  const format = (day: string, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options }).format(
      new Date(`${day}T00:00:00Z`),
    )
  const long: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' }
  return from.slice(0, 7) === to.slice(0, 7)
    ? `${format(from, { day: 'numeric' })}–${format(to, long)}`
    : `${format(from, long)} – ${format(to, long)}`
}
