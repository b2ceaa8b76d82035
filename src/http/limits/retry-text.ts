import { counted } from '../../counted.ts'
import { HOUR_SECONDS } from '../../time.ts'

/** When to try again, for a sentence: `in 20 seconds`, `in 5 minutes`, `in 3 hours`. */
export function retryText(seconds: number): string {
  if (seconds < 100) return `in ${counted(Math.ceil(seconds), 'second')}`
  if (seconds < 100 * 60) return `in ${counted(Math.ceil(seconds / 60), 'minute')}`
  return `in ${counted(Math.ceil(seconds / HOUR_SECONDS), 'hour')}`
}
