import { counted, numberText, sizeText } from '../ui/text/format.ts'
import type { MailFinding, TestMailResult } from './api.ts'

export const mailTests = {
  title: 'Mail tests',
  tab: 'Deliverability',
  ofDomain: (domain: string) => `Deliverability of ${domain}`,
  lead: 'Find out why mail lands in spam: send one to a test address.',
  back: 'Domains',
  create: 'Create test address',
  creating: 'A test address takes up to three mails within 24 hours.',
  file: 'Test a saved mail',
  fileLabel: 'Choose a mail',
  fileHint: 'An .eml file of up to 10 MB. Its delivery is taken from its own header.',
  list: 'Recent tests',
  loading: 'Loading mail tests…',
  none: 'No mail tests yet',
  noneText: 'Findings are kept for 7 days, the mails themselves for 24 hours.',
  columns: ['Mail', 'Result', 'Created', 'Actions'],
  waiting: 'Waiting for a mail',
  expired: 'No mail came',
  analyzing: 'Checking…',
  failed: 'Not checked',
  noSubject: 'Mail without a subject',
  good: 'Nothing blocks or hurts',
  problems: (blocks: number, hurts: number) =>
    [blocks > 0 ? `${numberText(blocks)} block` : '', hurts > 0 ? `${numberText(hurts)} hurt` : '']
      .filter(Boolean)
      .join(', '),
  remove: 'Delete',
  removing: (name: string) => `${name} deleted`,
  open: 'Open',
} as const

export const mailTest = {
  loading: 'Loading the mail test…',
  titleOf: (subject: string | null) => subject ?? 'Mail test',
  back: 'Mail tests',
  address: 'Test address',
  send: 'Send a mail to this address, from the program or server that you want to test:',
  sendMore: (left: number) =>
    `Change something, and send ${left === 1 ? 'one more mail' : `up to ${left} more mails`} to see what changed:`,
  until: 'It receives mail until',
  mailbox: (mailbox: string) => `Or send it to ${mailbox}, with this code in its subject:`,
  noAddress: 'This service receives no mail. Test a saved mail instead.',
  waiting: 'Waiting for a mail. Findings appear here as soon as it arrives.',
  share: 'Share by link',
  endShare: 'End the link',
  shared: 'Everyone with this link sees the findings:',
  mailNumber: (number: number) => `Mail ${number}`,
  changed: 'Changes since the mail before',
  unchanged: 'No check has another result than with the mail before.',
  change: (before: string, after: string) => `${before} → ${after}`,
  findings: 'Problems',
  noProblems: 'No check failed.',
  passed: (count: number) => `${counted(count, 'check')} passed`,
  notChecked: (count: number) => `${counted(count, 'check')} not checked`,
  receivers: 'Requirements of receivers',
  requirements: (passed: number, all: number) => `${passed} of ${all}`,
  receiverColumns: ['Receiver', 'Met', 'Not met', 'Not checked'],
  allMet: 'All are met.',
  engines: 'Your spam filters',
  engineNames: { rspamd: 'rspamd', spamassassin: 'SpamAssassin' },
  engineScore: (score: number | null, threshold: number | null) =>
    `${score ?? '?'} of ${threshold ?? '?'} points`,
  symbols: 'Rules that matched',
  background: 'When all is green',
  sender: 'About the sender',
  backgroundLead: 'What may explain mail in spam although every check passes.',
  session: 'SMTP session',
  delivery: 'Delivery',
  reported:
    'As reported: how it was delivered stands in the mail itself, where a sender can forge it. TLS could not be checked.',
  folder: 'This tests the message and its set-up. It can’t predict the folder.',
  fix: 'Fix:',
  expected: 'Expected:',
  from: 'From',
  notes: (count: number) => `${counted(count, 'note')} of little weight`,
  source: 'Source:',
  ip: 'Server',
  helo: 'Greeting',
  envelope: 'Envelope sender',
  bounce: '(empty)',
  tls: 'TLS',
  noTls: 'None',
  size: 'Size',
  sizeOf: (bytes: number) => sizeText(bytes),
  notFound: 'Mail test not found',
  home: 'About Portreeve',
  sharedTitle: 'Shared mail test',
} as const

export const severityNames: Record<MailFinding['severity'], string> = {
  blocks: 'Blocks',
  hurts: 'Hurts',
  note: 'Note',
}

export const stateNames: Record<MailFinding['state'], string> = {
  passed: 'Passed',
  failed: 'Failed',
  'not-checked': 'Not checked',
}

export const originNames: Record<TestMailResult['origin'], string> = {
  smtp: 'received by SMTP',
  imap: 'from a mailbox',
  raw: 'from a file',
}
