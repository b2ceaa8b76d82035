import type { Finding, FindingState } from './finding.ts'

/** What a receiver requires, and how a mail meets it. */
export type ReceiverVerdict = {
  receiver: string
  /** `all`: of every sender; `bulk`: of senders of 5,000 mails a day or more. */
  volume: 'all' | 'bulk'
  title: string
  source: string
  requirements: Requirement[]
  passedCount: number
}

type Requirement = {
  title: string
  state: FindingState
  /** The checks that decide. */
  checks: string[]
}

/** All of these checks must pass. Without any, the service cannot check it. */
type Rule = { title: string; checks: string[] }

const FORMAT = [
  'from-syntax',
  'date',
  'header-syntax',
  'header-line-length',
  'header-8bit',
  'mime-version',
  'mime-parts',
  'body-line-length',
  'line-ends',
  'transfer-encoding',
  'nul-bytes',
]

const GOOGLE_ALL: Rule[] = [
  { title: 'SPF or DKIM', checks: ['authenticated'] },
  { title: 'Forward and reverse DNS', checks: ['reverse-name'] },
  { title: 'TLS', checks: ['tls'] },
  { title: 'Format of RFC 5322', checks: FORMAT },
  { title: 'One From address', checks: ['from-single'] },
  { title: 'Single header fields', checks: ['duplicate-fields'] },
  { title: 'Valid Message-ID', checks: ['message-id'] },
  { title: 'No Gmail address in From', checks: ['from-provider'] },
  { title: 'No hidden content', checks: ['hidden-text'] },
  { title: 'Complaint rate below 0.3%', checks: [] },
]

const BULK: Rule[] = [
  { title: 'SPF and DKIM', checks: ['spf', 'dkim'] },
  { title: 'DKIM key of 1024 bits or more', checks: ['dkim-key-size'] },
  { title: 'DMARC record', checks: ['dmarc-record'] },
  { title: 'From aligned with SPF or DKIM', checks: ['dmarc'] },
  { title: 'One-click unsubscribing (marketing mail)', checks: ['one-click', 'one-click-signed'] },
  { title: 'Visible link to unsubscribe (marketing mail)', checks: ['unsubscribe-link'] },
]

const YAHOO_ALL: Rule[] = [
  { title: 'SPF or DKIM', checks: ['authenticated'] },
  { title: 'Forward and reverse DNS', checks: ['reverse-name'] },
  {
    title: 'Format of RFC 5321 and 5322',
    checks: [...FORMAT, 'helo-name', 'message-id', 'from-single'],
  },
  { title: 'Complaint rate below 0.3%', checks: [] },
]

const RECEIVERS: (Pick<ReceiverVerdict, 'receiver' | 'volume' | 'title' | 'source'> & {
  rules: Rule[]
})[] = [
  {
    receiver: 'google',
    volume: 'all',
    title: 'Gmail, below 5,000 a day',
    source: 'https://support.google.com/a/answer/81126',
    rules: GOOGLE_ALL,
  },
  {
    receiver: 'google',
    volume: 'bulk',
    title: 'Gmail, 5,000 a day or more',
    source: 'https://support.google.com/a/answer/81126',
    rules: [...GOOGLE_ALL.filter(({ checks }) => checks[0] !== 'authenticated'), ...BULK],
  },
  {
    receiver: 'microsoft',
    volume: 'bulk',
    title: 'Outlook.com, more than 5,000 a day',
    source:
      'https://techcommunity.microsoft.com/blog/microsoftdefenderforoffice365blog/strengthening-email-ecosystem-outlook%E2%80%99s-new-requirements-for-high%E2%80%90volume-senders/4399730',
    rules: [
      { title: 'SPF passes', checks: ['spf'] },
      { title: 'DKIM passes', checks: ['dkim'] },
      { title: 'DMARC record', checks: ['dmarc-record'] },
      { title: 'From aligned with SPF or DKIM', checks: ['dmarc'] },
      { title: 'From and Reply-To receive mail', checks: ['from-domain', 'reply-domain'] },
    ],
  },
  {
    receiver: 'yahoo',
    volume: 'all',
    title: 'Yahoo, all senders',
    source: 'https://senders.yahooinc.com/best-practices/',
    rules: YAHOO_ALL,
  },
  {
    receiver: 'yahoo',
    volume: 'bulk',
    title: 'Yahoo, bulk senders (no number published)',
    source: 'https://senders.yahooinc.com/best-practices/',
    rules: [...YAHOO_ALL.filter(({ checks }) => checks[0] !== 'authenticated'), ...BULK],
  },
]

/** Compares findings with what receivers publish. A requirement without a result never counts as met. */
export function evaluateReceivers(findings: readonly Finding[]): ReceiverVerdict[] {
  const states = new Map(findings.map(({ id, state }) => [id, state]))
  return RECEIVERS.map(({ rules, ...receiver }) => {
    const requirements = rules.map(({ title, checks }) => ({
      title,
      checks,
      state: joinStates(checks.map((id) => states.get(id) ?? 'not-checked')),
    }))
    const passedCount = requirements.filter(({ state }) => state === 'passed').length
    return { ...receiver, requirements, passedCount }
  })
}

function joinStates(states: FindingState[]): FindingState {
  if (states.includes('failed')) return 'failed'
  return states.length > 0 && states.every((state) => state === 'passed') ? 'passed' : 'not-checked'
}

/** What changed from one mail of a test to the next. */
export type FindingChange = { id: string; title: string; before: FindingState; after: FindingState }

export function compareFindings(
  before: readonly Finding[],
  after: readonly Finding[],
): FindingChange[] {
  const earlier = new Map(before.map(({ id, state }) => [id, state]))
  return after.flatMap(({ id, title, state }) => {
    const was = earlier.get(id)
    return was === undefined || was === state ? [] : [{ id, title, before: was, after: state }]
  })
}
