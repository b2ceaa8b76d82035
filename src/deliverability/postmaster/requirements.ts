import type { Requirement, RequirementState } from './postmaster-answers.ts'

type Text = { title: string; action: string }

/** What Google requires of senders, and what to do about it. */
const TEXTS: Record<Requirement, Text> = {
  SPF: { title: 'SPF', action: 'Publish an SPF record that names all servers that send for you.' },
  DKIM: { title: 'DKIM', action: 'Sign all mail with DKIM, with a key of 1024 bits or more.' },
  SPF_AND_DKIM: {
    title: 'SPF and DKIM',
    action: 'Let all mail pass both: the pages about SPF and DKIM show what fails.',
  },
  DMARC_POLICY: { title: 'DMARC policy', action: 'Publish a DMARC record; p=none is enough.' },
  DMARC_ALIGNMENT: {
    title: 'DMARC alignment',
    action: 'Align the domain in From with that of SPF or DKIM. DMARC reports name the senders.',
  },
  MESSAGE_FORMATTING: {
    title: 'Message format',
    action: 'Send a mail test, and correct what it finds in the header (RFC 5322).',
  },
  DNS_RECORDS: {
    title: 'Forward and reverse DNS',
    action: 'Give each sending address a reverse name that leads back to it.',
  },
  ENCRYPTION: { title: 'TLS', action: 'Send mail to Gmail over TLS.' },
  USER_REPORTED_SPAM_RATE: {
    title: 'Spam rate',
    action: 'Keep it below 0.1%: send only to people who asked for it and read it.',
  },
  ONE_CLICK_UNSUBSCRIBE: {
    title: 'One-click unsubscribe',
    action: 'Add List-Unsubscribe and List-Unsubscribe-Post under the DKIM signature (RFC 8058).',
  },
  HONOR_UNSUBSCRIBE: {
    title: 'Unsubscribing works',
    action: 'Stop sending within 48 hours to people who unsubscribe.',
  },
}

/** Why Google is not content, in the words of its discovery document (v2). */
const REASONS: Record<string, string> = {
  NO_UNSUB_GENERAL: 'Most messages have no one-click unsubscribe.',
  NO_UNSUB_SPAM_REPORTS: 'Most messages that are reported as spam have no one-click unsubscribe.',
  NO_UNSUB_PROMO_SPAM_REPORTS:
    'Most promotional messages that are reported as spam have no one-click unsubscribe.',
  NOT_HONORING: 'Mail goes on after people unsubscribe.',
  NOT_HONORING_TOO_FEW_CAMPAIGNS:
    'Mail goes on after people unsubscribe: too many kinds of mail share a campaign.',
  NOT_HONORING_TOO_MANY_CAMPAIGNS:
    'Mail goes on after people unsubscribe: one kind of mail is spread over too many campaigns.',
}

export function describeRequirement({ requirement, state, reason }: RequirementState) {
  const { title, action } = TEXTS[requirement]
  return {
    requirement,
    state,
    reason: reason === null ? null : (REASONS[reason] ?? reason),
    title,
    action: state === 'needs-work' ? action : null,
  }
}
