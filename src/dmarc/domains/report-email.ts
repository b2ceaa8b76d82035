import type { DomainRow } from './store.ts'

/** The address that receives the reports about a domain. */
export function reportEmailOf(
  { mailbox }: Pick<DomainRow, 'mailbox'>,
  reportDomain: string,
): string {
  return `${mailbox}@${reportDomain}`
}
