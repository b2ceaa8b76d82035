import { counted } from '../../ui/text/format.ts'

export const optOuts = {
  title: 'Networks that want no abuse emails',
  text: 'These addresses never get reports by email, from any workspace.',
  loading: 'Loading the addresses…',
  empty: 'No address has opted out.',
  email: 'Email address',
  add: 'Add the address',
  unknown: (hash: string) => `Unknown address (SHA-256 ${hash.slice(0, 12)}…)`,
  sources: {
    link: 'Opted out with the link of an email',
    bounce: 'A mail server rejected an email',
    administrator: 'Added by an administrator',
  },
  remove: 'Remove',
  removeTitle: (name: string) => `Mail reports to ${name} again?`,
  removeText: 'If the recipient opted out with the link, they don’t want these emails.',
} as const

export const abuseMails = {
  title: 'Abuse emails',
  lead: 'Once a day, each network that attackers are in gets one email with your reports, in the X-ARF format.',
  loading: 'Loading the settings…',
  settings: 'Settings',
  mode: 'Emails',
  modes: {
    off: 'Off',
    test: 'Test: send every email to me instead',
    on: 'Send them to the networks',
  },
  contact: (email: string) => `Recipients answer to ${email}.`,
  newContact: 'Recipients answer to your email address.',
  bounces: {
    off: 'Emails that come back later aren’t noticed: this service has no mailbox for them.',
    read: 'A recipient whose email comes back gets none for 90 days.',
    failing:
      'Emails that come back aren’t noticed at the moment: this service can’t read its mailbox for them.',
  },
  save: 'Save',
  noRelay: 'This service does not send email. An administrator sets SMTP_URL.',
  sent: 'Emails',
  empty: 'No emails yet. Emails about a day are sent after its end (UTC).',
  columns: ['Recipient', 'Day', 'State', 'Email'],
  states: {
    waiting: 'Waiting',
    sending: 'Sending',
    sent: 'Sent',
    skipped: 'Not sent',
    failed: 'Failed',
    uncertain: 'Unknown',
  },
  test: 'Test, sent to you alone',
  about: (addresses: number, network: string) =>
    `${counted(addresses, 'address', 'addresses')} in ${network}`,
  show: 'Show',
  hide: 'Hide',
  of: (recipient: string) => `the email to ${recipient}`,
  what: 'the email',
  head: { to: 'To', subject: 'Subject' },
} as const
