import { bad, doubtful, good, type Finding } from './service-checks.ts'

/** `problem`: why the mailbox could not be read last time. */
type Reading = { readAt: Date | null; problem: string | null }

/** Whether bounced abuse emails are noticed: what the last look into their mailbox found. */
export function checkBounces(reading: Reading | undefined): Finding {
  const about = 'bounces'
  if (reading && reading.problem !== null)
    return bad(
      about,
      `The mailbox of bounced abuse emails cannot be read: ${reading.problem.replace(/\.$/, '')}. Check ABUSE_RETURN_MAILBOX.`,
    )
  if (!reading?.readAt)
    return doubtful(
      about,
      'The mailbox of bounced abuse emails was not read yet. The service reads it every 5 minutes.',
    )
  return good(
    about,
    `The mailbox of bounced abuse emails was read at ${reading.readAt.toISOString()}.`,
  )
}
