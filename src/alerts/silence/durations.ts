import { Fault } from '../../errors.ts'
import { MINUTE_MS } from '../../time.ts'

export type Duration = { until?: string | undefined; minutes?: number | undefined }

/** A minute of tolerance, because clocks differ and requests take time. */
const TOLERANCE_MS = MINUTE_MS

/**
 * The end of a duration; null where none is given.
 * @param limits in minutes
 * @throws Fault `invalid_request` with both or outside of the limits
 */
export function endOf(
  { until, minutes }: Duration,
  { least, most }: { least: number; most: number },
): Date | null {
  if (until !== undefined && minutes !== undefined)
    throw invalid('until', 'Set “until” or “minutes”, not both.')
  if (minutes !== undefined) return new Date(Date.now() + minutes * MINUTE_MS)
  if (until === undefined) return null
  const end = new Date(until)
  const ahead = end.getTime() - Date.now()
  if (ahead < least * MINUTE_MS - TOLERANCE_MS || ahead > most * MINUTE_MS + TOLERANCE_MS)
    throw invalid(
      'until',
      `The time in “until” must be ${least} minutes to ${most / (24 * 60)} days from now.`,
    )
  return end
}

/** @throws as `endOf`, and where no duration is given */
export function requireEnd(duration: Duration, limits: { least: number; most: number }): Date {
  const end = endOf(duration, limits)
  if (end === null) throw invalid('minutes', 'Set “minutes” or “until”.')
  return end
}

function invalid(path: string, message: string): Fault {
  return new Fault('invalid_request', message, { details: [{ path, message }] })
}
