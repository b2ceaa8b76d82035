import type { Blocklist } from '../../protocols/dnsbl/catalogue.ts'
import type { Db } from '../../store/database.ts'
import { listMonitoringHosts, type MonitoredIp, listAccountModes } from './store.ts'
import { modeOf } from './modes.ts'

/**
 * Whether a monitored host of the account raises alerts, now or soon, when these blocklists remove
 * the address.
 */
export async function isMonitored(
  db: Db,
  monitored: MonitoredIp,
  lists: readonly Pick<Blocklist, 'zone' | 'alert'>[],
): Promise<boolean> {
  const zones = lists.map(({ zone }) => zone)
  const hosts = await listMonitoringHosts(db, monitored, zones)
  const accountModes =
    (await listAccountModes(db, [monitored.accountId])).get(monitored.accountId) ?? {}
  return lists.every((list) =>
    hosts.some(
      ({ zone, lists: own }) => zone === list.zone && modeOf(list, own, accountModes) === 'alert',
    ),
  )
}
