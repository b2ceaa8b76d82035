import type { Tone } from '../../ui/feedback/status.tsx'
import type { Batch, MailboxState } from './api.ts'

const STATE_TONES: Record<MailboxState, Tone> = {
  invalid: 'bad',
  waiting_for_owner: 'info',
  ready: 'unknown',
  queued: 'info',
  syncing: 'info',
  in_sync: 'good',
  needs_attention: 'bad',
  paused: 'warn',
  done: 'good',
}

export const toneOfState = (state: MailboxState): Tone => STATE_TONES[state]

const STATUS_TONES: Record<Batch['status'], Tone> = {
  ready: 'unknown',
  running: 'info',
  paused: 'warn',
  needs_attention: 'bad',
  in_sync: 'good',
  finished: 'good',
}

/** The tone of a batch. Mailboxes without messages at the source are no success. */
export function toneOf({ status, emptyMailboxes }: Pick<Batch, 'status' | 'emptyMailboxes'>): Tone {
  const tone = STATUS_TONES[status]
  return tone === 'good' && emptyMailboxes > 0 ? 'warn' : tone
}

/** Mailboxes of which all messages are copied. */
export function countInSync({ counts }: Pick<Batch, 'counts'>): number {
  return (counts['in_sync'] ?? 0) + (counts['done'] ?? 0)
}
