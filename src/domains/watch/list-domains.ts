import type { Kysely } from 'kysely'
import { listDomainNames } from '../../dmarc/domains/dmarc-domains.sql.ts'
import { listHostStates, type HostState } from '../../monitoring/hosts.sql.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import type { DB } from '../../store/tables.ts'
import type { DomainSummary } from '../shapes.ts'
import type { ReadableParts } from './history.ts'
import { findStages, listWatched, type ListedDomainRow } from './watched-domains.sql.ts'

export type ListedDomain = Omit<DomainSummary, 'stages'>

const MAX_SHOWN_HOSTS = 20

/**
 * Every domain of a workspace: the watched ones, those with DMARC reports, and the registered
 * domains of monitored hosts, in no order and without the stages of their last check.
 */
export async function listWorkspaceDomains(
  db: Kysely<DB>,
  workspaceId: string,
  readable: ReadableParts,
): Promise<ListedDomain[]> {
  const [watched, reported, hosts] = await Promise.all([
    listWatched(db, workspaceId),
    readable.dmarc ? listDomainNames(db, workspaceId) : [],
    readable.monitoring ? listHostStates(db, workspaceId) : [],
  ])
  const watchedByName = new Map(watched.map((row) => [row.domain, row]))
  const reportedByName = new Map(reported.map((row) => [row.domain, row.id]))
  const hostsByName = groupHosts(hosts, watched)
  const names = new Set([...watchedByName.keys(), ...reportedByName.keys(), ...hostsByName.keys()])
  return Array.from(names, (domain) =>
    summarize(domain, {
      watched: watchedByName.get(domain),
      dmarcDomainId: reportedByName.get(domain) ?? null,
      hosts: [...(hostsByName.get(domain) ?? [])],
    }),
  )
}

/** Adds the stages of the last check. */
export async function withStages(
  db: Kysely<DB>,
  workspaceId: string,
  domains: ListedDomain[],
): Promise<DomainSummary[]> {
  const watched = domains.filter(({ isWatched }) => isWatched).map(({ domain }) => domain)
  const stages = watched.length > 0 ? await findStages(db, workspaceId, watched) : new Map()
  return domains.map((one) => ({ ...one, stages: stages.get(one.domain) ?? null }))
}

/** Monitored hosts by their registered domain, and by watched domains that they serve. */
function groupHosts(hosts: HostState[], watched: ListedDomainRow[]): Map<string, Set<HostState>> {
  const groups = new Map<string, Set<HostState>>()
  const add = (domain: string, host: HostState) => {
    const group = groups.get(domain)
    if (group) group.add(host)
    else groups.set(domain, new Set([host]))
  }
  const byHost = new Map(hosts.map((row) => [row.host, row]))
  const served = new Set<string>()
  for (const { domain, hosts: own } of watched) {
    for (const name of own) {
      const row = byHost.get(name)
      if (!row) continue
      add(domain, row)
      served.add(name)
    }
  }
  for (const row of hosts) {
    const domain = registeredDomain(row.host)
    // A provider’s mail server that is monitored for a watched domain is no domain of the workspace.
    const isWatched = domain !== null && groups.has(domain)
    if (domain !== null && (isWatched || !served.has(row.host))) add(domain, row)
  }
  return groups
}

type Parts = {
  watched: ListedDomainRow | undefined
  dmarcDomainId: string | null
  hosts: HostState[]
}

function summarize(domain: string, { watched, dmarcDomainId, hosts }: Parts): ListedDomain {
  const isListed = hosts.some(({ status }) => status === 'listed')
  return {
    domain,
    isWatched: watched !== undefined,
    labels: watched?.labels ?? [],
    state: isListed ? 'bad' : (watched?.state ?? 'unknown'),
    sentence: watched?.sentence ?? null,
    checkedAt: watched?.checkedAt?.toISOString() ?? null,
    dmarcDomainId,
    hosts: hosts.slice(0, MAX_SHOWN_HOSTS).map(({ id, host, status }) => ({ id, host, status })),
    hostCount: hosts.length,
  }
}
