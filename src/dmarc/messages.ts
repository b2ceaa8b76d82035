import { bytesText } from '../accounts/own-data/quotas.ts'

type AlertText = { title: string; text: string; nextStep: string }

const percent = (share: number) => `${(share * 100).toFixed(1)}%`

/** The alert about a mailbox that has failed for hours. */
export function describeMailboxFailure(
  user: string,
  { since, error }: { since: Date; error: string },
): AlertText {
  return {
    title: `The report mailbox ${user} can’t be read`,
    text: `${error} It has failed since ${since.toISOString()}, and its reports aren’t counted.`,
    nextStep: 'Fix the mailbox, or delete it and add it again with its new password.',
  }
}

/** The alert about a mailbox that can be read again. */
export function describeMailboxRecovery(user: string): AlertText {
  return {
    title: `Resolved: the report mailbox ${user} can be read again`,
    text: 'Its reports are counted again, also those that arrived meanwhile.',
    nextStep: '',
  }
}

type FailureRise = {
  domain: string
  day: string
  messages: number
  failing: number
  before: number
}

/** The alert about a day with far more failures than before. */
export function describeFailureRise({
  domain,
  day,
  messages,
  failing,
  before,
}: FailureRise): AlertText {
  return {
    title: `More mail from ${domain} fails DMARC`,
    text: `${failing} of ${messages} messages (${percent(failing / messages)}) failed on ${day}, compared with ${percent(before)} in the two weeks before.`,
    nextStep:
      'Open the summary and check the sources with the most failures: either a new sender of yours, or spoofed email.',
  }
}

/**
 * The alerts about storage for report files.
 * @param limit in bytes
 * @param warningShare of the limit, 0 to 1
 */
export function describeFileStorage(
  limit: number,
  warningShare: number,
): Record<'warning' | 'full', AlertText> {
  return {
    warning: {
      title: 'Storage for report files is almost full',
      text: `Your report files use more than ${warningShare * 100}% of ${bytesText(limit)}.`,
      nextStep:
        'Ask for a larger plan if you need the original files. Reports are evaluated either way.',
    },
    full: {
      title: 'Report files are no longer stored',
      text: `Your report files reached the limit of ${bytesText(limit)}. Reports that arrive by email are evaluated, but their files aren’t stored. Uploads are rejected.`,
      nextStep: 'Wait until old files expire, or ask for a larger plan.',
    },
  }
}
