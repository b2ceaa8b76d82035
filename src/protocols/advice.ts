/** The subjects of advice. */
export const ADVICE_SUBJECTS = ['dmarc', 'spf', 'dkim', 'mta-sts', 'tls-rpt', 'bimi'] as const
/**
 * `error`: it does not work as it stands. `warning`: it works worse than it could. `info`: good to
 * know.
 */
export const SEVERITIES = ['error', 'warning', 'info'] as const

export type Severity = (typeof SEVERITIES)[number]

/** A record to publish. */
export type Publish = { name: string; type: 'TXT'; value: string }

/** A problem or a possible improvement, in plain words, and the record that would fix it. */
export type Advice = {
  about: (typeof ADVICE_SUBJECTS)[number]
  severity: Severity
  message: string
  publish?: Publish
}

/** The TXT record to publish. */
export function txtRecord(name: string, value: string): Publish {
  return { name, type: 'TXT', value }
}

/** A failed query is reported, so that “not found” stays reliable. */
export function lookupFailed(about: Advice['about'], name: string, error: string): Advice {
  const message = `The record at ${name} could not be looked up (${error}).`
  return { about, severity: 'warning', message }
}

/** Sorts by severity; advice of equal severity keeps its order. */
export function sortBySeverity(advice: Advice[]): Advice[] {
  return advice.toSorted(
    (one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity),
  )
}

/** “a, b and c”; of a long list the first few and how many more. */
export function joinItems(items: string[], atMost = 10): string {
  const shown = items.slice(0, atMost).map((item) => shorten(item))
  const more = items.length - shown.length
  if (more > 0) return `${shown.join(', ')} and ${more} more`
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

const MAX_QUOTED_CHARS = 80

/** Published text may be long; a sentence should not be. */
export function shorten(text: string): string {
  return text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text
}
