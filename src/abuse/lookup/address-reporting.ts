import type { PublicFeeds } from '../../public-feeds/public-feeds.ts'
import type { AttackList } from '../attack-list.ts'
import { findSubject } from '../subject.ts'
import { describeAddress, type LookupDeps } from './check-address.ts'
import { findOwnAddress } from './own-address.sql.ts'

type ReportingDeps = LookupDeps &
  Pick<AttackList, 'db' | 'lookup' | 'systems' | 'clock'> & {
    publicFeeds: Pick<PublicFeeds, 'find'>
  }

export type AddressReporting = Awaited<ReturnType<typeof describeReporting>>

/**
 * What attack reporting knows of an address: everybody’s reports, as the public look-up has them,
 * and those of the workspace. The reports are null for an address that is not on the Internet.
 * @param key the address, or the /64 of an IPv6 address
 */
export async function describeReporting(
  deps: ReportingDeps,
  workspaceId: string,
  { ip, key }: { ip: string; key: string },
) {
  const { db, lookup, publicFeeds, systems, clock } = deps
  const own = await findOwnAddress(db, workspaceId, key)
  const subject = findSubject(ip)
  if (!subject) return { system: null, reports: null, own }
  const described = describeAddress(subject, await lookup(subject.key), deps, clock())
  return {
    system: systems.systemOf?.(ip) ?? null,
    reports: { ...described, publicFeeds: publicFeeds.find(subject.key) },
    own,
  }
}
