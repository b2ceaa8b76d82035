import { counted, numberText } from '../ui/text/format.ts'
import type { DomainFix, LineState } from './api.ts'
import type { StageName } from './stages.ts'

export const domainPages = {
  title: 'Domains',
  lead: 'Type a domain to see everything about its mail: who may send, how it is received, and its reputation.',
  field: 'Domain',
  fieldExample: 'example.com',
  submit: 'Check domain',
  notADomain: 'Enter a domain, such as example.com.',
  titleOf: (domain: string) => domain,
  checkAgain: 'Check again',
  checking: 'Checking…',
  progress: (done: number, total: number) =>
    `${numberText(done)} of ${numberText(total)} checks done`,
  checkedAt: 'Checked',
  checkAddress: 'Check an address or host instead',
} as const

export const stageTitles: Record<StageName, string> = {
  sender: 'Sender',
  authentication: 'SPF, DKIM, DMARC',
  mx: 'MX',
  tls: 'TLS',
  reputation: 'Reputation',
}

export const stateNames: Record<LineState, string> = {
  good: 'Good',
  warning: 'Warning',
  bad: 'Problem',
  unknown: 'Not checked',
}

export const path = {
  title: 'Mail path',
  summary: (name: string, state: string) => `${name}: ${state}`,
  waiting: 'Waiting',
} as const

export const lines = {
  title: 'All checks',
  notUsed: 'Not used',
  details: 'Details',
  showAll: (count: number) => `Show ${counted(count, 'check')} without problems`,
  hide: 'Hide checks without problems',
} as const

export const fixes = {
  title: 'Fix these in order',
  explanation: 'Each record below is complete: publish it as it is, in place of the old one.',
  none: 'No records to change.',
  record: (name: string, type: string) => `${name} ${type}`,
  copyRecord: (name: string) => `the record for ${name}`,
  published: 'Published now',
  proposed: 'Publish this',
  nothing: 'No record',
  why: 'Why',
  watch: 'Watch for the change',
  stop: 'Stop watching',
  severities: {
    bad: 'Fix now',
    warning: 'Should be fixed',
    suggestion: 'Suggestion',
  } satisfies Record<DomainFix['severity'], string>,
  looking: 'Asking the name servers…',
  notYet: 'Not published yet. Checking every 10 seconds.',
  onSome: (matching: number, all: number) =>
    `${numberText(matching)} of ${counted(all, 'name server')} have the change. Checking every 10 seconds.`,
  done: 'Published on all name servers.',
  checkAgain: 'Check the domain again',
  visibleBy: 'Visible to everybody by',
} as const
