import { isIP } from 'node:net'
import type { DomainRow } from './dmarc-domains.sql.ts'

/** Names that exist only in local networks (RFC 6761, 6762, 8375; ICANN reserved `internal`). */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|lan|internal|invalid|home\.arpa)$/i

/** Whether mail servers of others can deliver to a domain: it is a public name. */
export function canReceiveReports(domain: string): boolean {
  return isIP(domain) === 0 && /\.[a-z][a-z\d-]*$/i.test(domain) && !LOCAL_NAME.test(domain)
}

/** The address that receives the reports about a domain; null where none can arrive. */
export function reportEmailOf(
  { mailbox }: Pick<DomainRow, 'mailbox'>,
  reportDomain: string,
): string | null {
  return canReceiveReports(reportDomain) ? `${mailbox}@${reportDomain}` : null
}
