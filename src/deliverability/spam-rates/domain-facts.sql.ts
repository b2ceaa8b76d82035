import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'

type DomainSubject = { workspaceId: string; domain: string }

/** The monitored hosts of a domain: at or below it, or that serve it as a watched domain. */
const ofDomain = ({
  workspaceId,
  domain,
}: DomainSubject) => sql`h.workspace_id = ${workspaceId} and (
  h.host = ${domain} or right(h.host, length(${domain}) + 1) = '.' || ${domain}
  or h.host = any(array(select unnest(w.hosts) from watched_domain w
    where w.workspace_id = ${workspaceId} and w.domain = ${domain})))`

export async function listHostIds(
  db: Db,
  subject: DomainSubject,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select h.id from monitored_host h where ${ofDomain(subject)} order by h.id limit ${limit}`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

/**
 * The addresses of a domain’s monitored hosts, and those that sent aligned mail of the domain since
 * then, as DMARC reports say.
 */
export async function listDomainAddresses(
  db: Db,
  subject: DomainSubject,
  { since, limit }: { since: string; limit: number },
): Promise<string[]> {
  const { workspaceId, domain } = subject
  const { rows } = await sql<{ address: string }>`
    select a.ip as address from monitored_host h join monitored_address a on a.host_id = h.id
      where ${ofDomain(subject)}
    union
    select host(s.source) from dmarc_domain d join dmarc_source_day s on s.domain_id = d.id
      where d.workspace_id = ${workspaceId} and d.domain = ${domain} and s.day >= ${since}::date
        and s.aligned > 0
    limit ${limit}`.execute(db)
  return rows.map(({ address }) => address)
}

/** Messages of a domain and the names below it in DMARC reports, by day; days without are missing. */
export async function listDmarcDays(
  db: Db,
  { workspaceId, domain }: DomainSubject,
  since: string,
): Promise<{ day: string; messages: number; failures: number }[]> {
  const { rows } = await sql<{ day: string; messages: number; failures: number }>`
    select s.day, sum(s.messages)::float8 as messages, sum(s.messages - s.aligned)::float8 as failures
    from dmarc_domain d join dmarc_reporter_day s on s.domain_id = d.id
    where d.workspace_id = ${workspaceId} and s.day >= ${since}::date
      and (d.domain = ${domain} or right(d.domain, length(${domain}) + 1) = '.' || ${domain})
    group by s.day having sum(s.messages) > 0 order by s.day`.execute(db)
  return rows
}
