import type { StepName } from './steps.ts'

/**
 * Words about a cut-over that the dashboard, the command line and alerts share. The dashboard imports
 * this file, so it imports types alone.
 */

export const STEP_TITLES: Record<StepName, string> = {
  ttl: 'Lower the TTL of the MX records',
  switch: 'Switch the MX records',
  quiet: 'Wait until the old inboxes are quiet',
  final_pass: 'Final pass of all mailboxes',
  proof: 'Proof',
}

export const STEP_ADVICE: Record<StepName, string> = {
  ttl: 'Set a short TTL at your DNS provider, so that all senders follow the switch quickly.',
  switch: 'Replace the MX records at your DNS provider with those of the new servers.',
  quiet: 'Senders that know the old servers deliver there for some days. Passes copy what arrives.',
  final_pass: 'Start it when the old mailboxes are no longer in use.',
  proof: 'Both servers are read again, and every message is compared.',
}
