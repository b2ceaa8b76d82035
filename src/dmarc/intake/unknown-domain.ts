import { sql } from 'kysely'

/** The reason of a report for a domain that is not in the workspace. */
export function unknownDomainReason(domain: string, workspaceId: string | null): string {
  return workspaceId === null
    ? `The report is for ${domain}, which is not registered here.`
    : `The report is for ${domain}, which is not in your workspace. Add the domain to receive its reports.`
}

const UNKNOWN_DOMAIN = '^The report is for (\\S+), which is not in your workspace'

/** The domain of such a reason; null for another one. */
export function domainOfReason(reason: string): string | null {
  return new RegExp(UNKNOWN_DOMAIN).exec(reason)?.[1] ?? null
}

/** The same in SQL. */
export const DOMAIN_OF_REASON = sql<
  string | null
>`substring(s.reason from ${sql.lit(UNKNOWN_DOMAIN)})`
