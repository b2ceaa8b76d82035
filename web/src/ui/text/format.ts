let thousands: Intl.NumberFormat | null = null

/** `1,234` */
export function numberText(count: number): string {
  // Most numbers need no separator, and creating the format takes a phone 20 ms.
  if (Number.isInteger(count) && Math.abs(count) < 1_000) return String(count)
  thousands ??= new Intl.NumberFormat('en-GB')
  return thousands.format(count)
}

/** `1 day`, `2 days`, `1,234 days`. */
export function counted(count: number, word: string, words = `${word}s`): string {
  return `${numberText(count)} ${count === 1 ? word : words}`
}

const STEPS = ['kB', 'MB', 'GB', 'TB']

/** `812 bytes`, `1.5 kB`, `48 MB`: steps of a thousand. */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, 'byte')
  const step = Math.min(STEPS.length, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** step
  return `${value < 10 ? value.toFixed(1) : numberText(Math.round(value))} ${STEPS[step - 1]}`
}

/** `12 seconds`, `4 minutes`, `1 hour 20 minutes`. */
export function durationText(seconds: number): string {
  if (seconds < 60) return counted(Math.max(1, Math.round(seconds)), 'second')
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return counted(minutes, 'minute')
  const rest = minutes % 60
  return [counted(Math.floor(minutes / 60), 'hour'), rest > 0 && counted(rest, 'minute')]
    .filter(Boolean)
    .join(' ')
}
