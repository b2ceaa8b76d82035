import type { Severity } from '../severity.ts'

/** What a message begins with in chats that have no colors of their own. */
export const MARKS: Record<Severity | 'resolved', string> = {
  critical: '🚨',
  error: '🔴',
  warning: '🟠',
  info: '🔵',
  resolved: '✅',
}
