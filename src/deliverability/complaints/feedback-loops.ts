import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'

/** A provider that reports complaints of its users to senders. */
export type FeedbackLoop = {
  id: string
  name: string
  /** Registered domains from which its reports come. */
  domains: readonly string[]
  /** As what it signs its DMARC reports, in lower case: they say how many mails it received. */
  reporters: readonly string[]
}

export const FEEDBACK_LOOPS: readonly FeedbackLoop[] = [
  {
    id: 'microsoft',
    name: 'Microsoft (JMRP)',
    domains: ['hotmail.com', 'outlook.com', 'live.com', 'microsoft.com'],
    reporters: ['outlook.com'],
  },
  {
    id: 'yahoo',
    name: 'Yahoo (CFL)',
    domains: ['yahoo.com', 'yahooinc.com', 'yahoo-inc.com', 'aol.com'],
    reporters: ['yahoo', 'yahoo.com', 'yahoo inc.', 'yahoo! inc.', 'aol', 'aol.com'],
  },
]

/** The feedback loop of an author domain: its id, or the registered domain where none is known. */
export function providerOf(author: string): string {
  const domain = registeredDomain(author) ?? author
  return FEEDBACK_LOOPS.find(({ domains }) => domains.includes(domain))?.id ?? domain
}

export function providerName(provider: string | null): string {
  if (provider === null) return 'Unknown'
  return FEEDBACK_LOOPS.find(({ id }) => id === provider)?.name ?? provider
}
