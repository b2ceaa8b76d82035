import { listOpenByKey } from '../alerts/incidents.sql.ts'
import type { Db } from '../store/database.ts'
import { initialIncidentOf, listingIncidentOf } from './blocklists/messages.ts'
import { listListedHosts } from './blocklists/listings.sql.ts'
import { certificateIncidentOf } from './certificates/messages.ts'

/** A certificate that a host presents. */
export type CertificatePlace = { host: string; port: number }

/** Finds the open incidents about listings of these addresses. @returns their titles by address */
export async function findListingIncidents(
  db: Db,
  workspaceId: string,
  ips: string[],
): Promise<Map<string, string[]>> {
  const hosts = await listListedHosts(db, workspaceId, ips)
  const open = await listOpenByKey(db, workspaceId, {
    keys: hosts.map(({ hostId }) => initialIncidentOf({ id: hostId })),
    prefixes: ips.map(prefixOf),
  })
  const titlesOf = (ip: string) => {
    const initial = hosts.filter((one) => one.ip === ip).map(({ hostId: id }) => initialIncidentOf({ id })) // prettier-ignore
    return open
      .filter(({ key }) => key.startsWith(prefixOf(ip)) || initial.includes(key))
      .map(({ title }) => title)
  }
  return new Map(ips.map((ip) => [ip, titlesOf(ip)]))
}

function prefixOf(ip: string): string {
  return listingIncidentOf(ip, { zone: '' })
}

/** Finds the open incidents about these certificates. @returns the title of each, in their order */
export async function findCertificateIncidents(
  db: Db,
  workspaceId: string,
  places: CertificatePlace[],
): Promise<(string | undefined)[]> {
  const keys = places.map(({ host, port }) => certificateIncidentOf(host, port))
  const open = await listOpenByKey(db, workspaceId, { keys, prefixes: [] })
  return keys.map((wanted) => open.find(({ key }) => key === wanted)?.title)
}
