import type { Blocklist } from '../../protocols/dnsbl/blocklist-catalogue.ts'
import type { Db } from '../../store/database.ts'
import { listMonitoringHosts, type MonitoredIp, listWorkspaceModes } from './listings.sql.ts'
import { modeOf } from './modes.ts'

/**
 * Whether a monitored host of the workspace raises alerts, now or soon, when these blocklists remove
 * the address.
 */
export async function isMonitored(
  db: Db,
  monitored: MonitoredIp,
  lists: readonly Pick<Blocklist, 'zone' | 'alert'>[],
): Promise<boolean> {
  const zones = lists.map(({ zone }) => zone)
  const hosts = await listMonitoringHosts(db, monitored, zones)
  const workspaceModes =
    (await listWorkspaceModes(db, [monitored.workspaceId])).get(monitored.workspaceId) ?? {}
  return lists.every((list) =>
    hosts.some(
      ({ zone, lists: own }) => zone === list.zone && modeOf(list, own, workspaceModes) === 'alert',
    ),
  )
}
