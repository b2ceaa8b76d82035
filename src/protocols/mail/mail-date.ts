const DATE =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun)\s*,\s*)?\d{1,2}\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\s+\d{4}\s+\d{1,2}:\d{2}(?::\d{2})?\s+(?:[+-]\d{4}|gmt|ut|utc|[ecmp][sd]t|z)(?:\s*\([^()]*\))*\s*$/i

/** Reads the date of a mail (RFC 5322, 3.3); null for anything else. */
export function parseMailDate(value: string): Date | null {
  if (!DATE.test(value.trim())) return null
  const date = new Date(value.replaceAll(/\([^()]*\)/g, '').replace(/\but\b/i, 'GMT'))
  return Number.isNaN(date.getTime()) ? null : date
}
