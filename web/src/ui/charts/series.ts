import { utcDay } from '../text/dates.ts'

/** A value of a series; null where nothing is known. */
export type MaybeNumber = number | null

/** The runs of known values, as their indexes: a line is drawn within each, never across a gap. */
export function segmentsOf(values: readonly MaybeNumber[]): number[][] {
  const segments: number[][] = []
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    const last = segments.at(-1)
    if (last?.at(-1) === index - 1) last.push(index)
    else segments.push([index])
  }
  return segments
}

/** The share that passed, 0 to 100; null without messages, because nothing is not 0%. */
export function rateOf(messages: number, pass: number): MaybeNumber {
  return messages > 0 ? (pass / messages) * 100 : null
}

/** The day at a place; null beside the plot. */
export function dayAt(x: number, days: number, width: number): number | null {
  if (x < 0 || x > width || days === 0) return null
  return Math.min(days - 1, Math.floor((x / width) * days))
}

const DAY_MS = 86_400_000

/** The UTC days from the first to the last, both inclusive: `2026-11-21`. */
export function daysBetween(from: string, to: string): string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)]
  const count = Math.max(0, Math.round((last - first) / DAY_MS) + 1)
  return Array.from({ length: count }, (_, day) => utcDay(first + day * DAY_MS))
}

/** The pixels of a span of time within a plot, at least `least` wide and inside of it. */
export function spanPixels(
  span: { from: number; to: number },
  time: { from: number; to: number },
  width: number,
  least = 3,
): { x: number; width: number } {
  const scale = width / Math.max(1, time.to - time.from)
  const begin = Math.max(0, (span.from - time.from) * scale)
  const end = Math.min(width, (span.to - time.from) * scale)
  const wide = Math.max(least, end - begin)
  return { x: Math.max(0, Math.min(begin, width - wide)), width: wide }
}

/** Breaks a text into two lines at a space, each shortened to what fits. */
export function fitTwoLines(text: string, pixels: number): string[] {
  const words = text.split(' ')
  let first = words.shift() ?? ''
  while (
    words[0] !== undefined &&
    fitText(`${first} ${words[0]}`, pixels) === `${first} ${words[0]}`
  )
    first += ` ${words.shift()}`
  return [first, words.join(' ')].filter(Boolean).map((line) => fitText(line, pixels))
}

/** Shortens a text to what fits, with an ellipsis. */
export function fitText(text: string, pixels: number, pixelsPerCharacter = 6.6): string {
  const most = Math.max(1, Math.floor(pixels / pixelsPerCharacter))
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`
}
