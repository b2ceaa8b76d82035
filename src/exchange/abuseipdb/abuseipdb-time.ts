/** `2026-11-21T12:00:00+00:00`, as AbuseIPDB writes times. */
export const timeOf = (date: Date | null): string | null =>
  date && `${date.toISOString().slice(0, 19)}+00:00`
