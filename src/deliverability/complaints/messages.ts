import { RATED_DAYS } from '../limits.ts'
import type { ComplaintRate } from './complaint-rates.ts'

/** Of what a rate is made. */
export function describeBasis({
  complaints,
  messages,
}: Pick<ComplaintRate, 'complaints' | 'messages'>): string {
  const count = complaints.toLocaleString('en')
  const all = messages.toLocaleString('en')
  const words = complaints === 1 ? 'complaint' : 'complaints'
  return `${count} ${words} about ${all} messages that its DMARC reports count, on the last ${RATED_DAYS} days that they cover.`
}
