import { bytesText } from '../accounts/own-data/account-quotas.ts'
import { DAY_MS, isoDay } from '../time.ts'

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

/** The alert about a mailbox whose sign-in at the provider has ended. */
export function describeEndedSignIn(user: string, { error }: { error: string }): AlertText {
  return {
    title: `The report mailbox ${user} needs a new sign-in`,
    text: error,
    nextStep: 'Sign in again on the page of report mailboxes. Reading then continues by itself.',
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

/** The stations of a report on its way to the service, and what is known about each. */
export type DeliveryPath = {
  /** Null where no report can arrive by mail. */
  reportEmail: string | null
  /** Whether the last report was sent to `reportEmail`, not to a mailbox or uploaded. */
  arrivedByEmail: boolean
  /** Whether the domain’s own record names `reportEmail`; null if DNS did not respond. */
  isConfigured: boolean | null
  /** Whether the domain’s own record names any address for reports. */
  hasRua: boolean
  /** Name of the DNS record that is missing at the domain of `reportEmail`. */
  missingConsent: string | null
  mailboxes: { username: string; failingSince: Date | null }[]
}

/** The alert about a domain whose regular reports stopped. */
export function describeSilence(domain: string, lastAt: Date, path: DeliveryPath): AlertText {
  return {
    title: `No DMARC reports about ${domain} for three days`,
    text: [
      `Reports used to arrive almost daily; the last one did on ${isoDay(lastAt)}.`,
      describeRecord(domain, path),
      ...describeAddress(path),
      ...path.mailboxes.map(({ username, failingSince }) =>
        failingSince === null
          ? `The report mailbox ${username} can be read.`
          : `The report mailbox ${username} can’t be read since ${failingSince.toISOString()}.`,
      ),
    ].join('\n'),
    nextStep:
      'Check that the domain still sends email, and that its DMARC record names the address that receives reports. The page of the domain shows the record to publish.',
  }
}

function describeRecord(domain: string, path: DeliveryPath): string {
  const { isConfigured, hasRua, arrivedByEmail, reportEmail } = path
  if (isConfigured === null) return `The DMARC record of ${domain} is unknown: DNS did not respond.`
  if (isConfigured) return `The DMARC record sends reports to ${reportEmail}.`
  if (reportEmail === null)
    return 'Reports can’t arrive by mail: REPORT_DOMAIN of this service isn’t a public name.'
  if (!hasRua) return `${domain} has no DMARC record with an address for reports (rua).`
  return arrivedByEmail
    ? `The DMARC record doesn’t send reports to ${reportEmail}.`
    : 'The DMARC record names an address for reports (rua), which isn’t one of this service.'
}

function describeAddress({ arrivedByEmail, missingConsent }: DeliveryPath): string[] {
  if (!arrivedByEmail) return []
  return missingConsent === null
    ? []
    : [`Reporters may not send to that address: the record ${missingConsent} is missing.`]
}

/** The alert about a domain whose reports came back. */
export function describeResumedReports(domain: string, since: Date, until: Date): AlertText {
  const days = Math.round((until.getTime() - since.getTime()) / DAY_MS)
  return {
    title: `Resolved: DMARC reports about ${domain} arrive again`,
    text: `The first one arrived on ${isoDay(until)}, after ${days} ${days === 1 ? 'day' : 'days'} without reports.`,
    nextStep: '',
  }
}

type NewSender = { name: string; messages: number; pass: number; fail: number }

/** Senders that one alert names. */
const MAX_NAMED_SENDERS = 10

/** The alert about senders that a domain never had before, at least one. */
export function describeNewSenders(domain: string, senders: NewSender[]): AlertText {
  const named = senders.toSorted((a, b) => b.messages - a.messages).slice(0, MAX_NAMED_SENDERS)
  const [first] = named
  const lines = named.map(
    ({ name, messages, pass }) =>
      `- ${name}: ${messages.toLocaleString('en')} ${messages === 1 ? 'message' : 'messages'}, ${percent(pass / messages)} passed DMARC`,
  )
  const more = senders.length - named.length
  return {
    title:
      senders.length === 1
        ? `New sender for ${domain}: ${first?.name}`
        : `${senders.length} new senders for ${domain}`,
    text: [
      `Reports name senders that ${domain} never had before:`,
      ...lines,
      ...(more > 0 ? [`And ${more} more.`] : []),
    ].join('\n'),
    nextStep:
      'Open the domain and mark each sender as yours or not yours. Set up DKIM or SPF for one that is yours and fails.',
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
