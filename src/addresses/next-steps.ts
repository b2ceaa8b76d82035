import type { AddressDelisting } from '../delisting/delistings.sql.ts'
import type { AddressUse } from '../dmarc/sources/address-use.sql.ts'
import type { AddressOverview } from './shapes.ts'

type Known = {
  sends: Pick<AddressUse, 'domainId' | 'messages' | 'passed' | 'forwarded'>[] | null
  hosts: unknown[] | null
  listings: unknown[] | null
  delistings: Pick<AddressDelisting, 'id' | 'status'>[] | null
  reports: { listingState: string } | null
  fleet: { ban: { expiresAt: Date | null } | null; server: object | null } | null
}
type Step = AddressOverview['next'][number]

/** Whether the workspace’s own data say that the address belongs to it. */
export function isOwnAddress({ hosts, sends, fleet }: Pick<Known, 'hosts' | 'sends' | 'fleet'>) {
  const passes = sends?.some(({ messages, passed }) => passed * 2 > messages) ?? false
  return passes || (hosts ?? []).length > 0 || (fleet?.server ?? null) !== null
}

/** The steps to take next, the most urgent first. */
export function findNextSteps(known: Known, isYours: boolean): Step[] {
  const { sends, hosts, listings, delistings, reports, fleet } = known
  const open = delistings?.find(({ status }) => status === 'pending' || status === 'in-progress')
  const isReported = reports?.listingState === 'listed' || reports?.listingState === 'watchlist'
  const passes = sends?.some(({ messages, passed }) => passed * 2 > messages) ?? false
  const steps: (Step | false)[] = [
    open !== undefined && { step: 'continue-delisting', id: open.id },
    !open && (listings ?? []).length > 0 && { step: 'delist', id: null },
    isYours && (fleet?.ban?.expiresAt ?? null) !== null && { step: 'unban', id: null },
    isYours && isReported && { step: 'appeal', id: null },
    ...(sends ?? [])
      .filter(({ passed, forwarded }) => passed === 0 && forwarded === 0)
      .map(({ domainId }): Step => ({ step: 'decide-sender', id: domainId })),
    passes && hosts?.length === 0 && { step: 'monitor', id: null },
  ]
  return steps.filter((step) => step !== false)
}
