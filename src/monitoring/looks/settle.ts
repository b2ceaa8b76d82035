import type { Transaction } from 'kysely'
import { adviceOnSweep } from '../../protocols/dnsbl/dnsbl-advice.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import type { CertificateDetail } from '../certificates/look.ts'
import { settleCertificates, type SettledCertificates } from '../certificates/settle.ts'
import type { Seen } from '../facts/judge.ts'
import { deleteFact, saveFact, type FactRow } from '../facts/store.ts'
import { beginPeriod, type Period } from '../history/store.ts'
import { MISSED_LOOKS, type Rhythm } from '../limits.ts'
import type { ListingLook } from '../listings/look.ts'
import { settleListings, zoneOf, type SettledListings } from '../listings/settle.ts'
import { deleteAddress, saveAddress } from '../listings/store.ts'
import { isGrave } from '../modes/modes.ts'
import type { RecordDetail } from '../records/look.ts'
import { settleRecords, type SettledRecords } from '../records/settle.ts'
import type { HostStatus } from '../store.ts'
import type { LookDeps } from './look.ts'
import { nextDue, type Plan } from './plan.ts'
import { markLooked, type ClaimedHost } from './store.ts'
import { tellCertificates, tellListings, tellRecords } from './tell.ts'

export type Look = {
  plan: Plan
  listings: ListingLook
  certificates: Map<number, Seen<CertificateDetail>>
  records: Map<string, Seen<RecordDetail>>
}

type Settled = { listings: SettledListings; certificates: SettledCertificates; records: SettledRecords }

/** Writes down a look at a host in one transaction with the alerts that follow: all of it, or nothing. */
export async function settle(host: ClaimedHost, look: Look, deps: LookDeps): Promise<void> {
  const { confirm } = deps.rhythm
  const now = new Date()
  const settled = {
    listings: settleListings(host, look.listings, now, confirm),
    certificates: settleCertificates(host, look.certificates, now, confirm),
    records: settleRecords(host, look.records, now, confirm),
  }
  const grave = new Set(look.listings.lists.filter(isGrave).map(({ zone }) => zone))
  const status = statusOf(settled.listings, look.listings, grave)
  await deps.db.transaction().execute(async (trx) => {
    const outcome = {
      status,
      listedCount: settled.listings.listed.length,
      unknownCount: settled.listings.unknown.length,
      totalChecked: settled.listings.total,
      detail: detailOf(host, look, settled.listings, deps),
      lastCheckAt: now,
      ...nextDue(host, look.plan, deps.rhythm, now),
      recheckAt: recheckAt(host, settled, deps.rhythm, now),
    }
    if (!(await markLooked(trx, host, outcome))) return
    await saveFacts(trx, host, settled)
    await countTime(trx, host, periodOf(status, settled.listings, grave), deps.rhythm, now)
    await tellListings(trx, host, settled.listings.changes, now)
    await tellCertificates(trx, host, settled.certificates, now)
    await tellRecords(trx, host, settled.records, now)
    await notifyChange(trx, host.accountId, 'monitoring', host.id)
  })
  deps.onLook?.(status)
}

/** “Clean” only where every critical and major list said so: “we could not ask” never looks like “not listed”. */
function statusOf({ listed, unknown }: SettledListings, { ips }: ListingLook, grave: Set<string>): HostStatus {
  if (listed.length > 0) return 'listed'
  return ips.length === 0 || unknown.some(({ zone }) => grave.has(zone)) ? 'unknown' : 'clean'
}

function periodOf(status: HostStatus, { listed }: SettledListings, grave: Set<string>): Period {
  if (listed.some((fact) => grave.has(zoneOf(fact)))) return 'listed'
  return status === 'unknown' ? 'unknown' : 'clean'
}

function detailOf(host: ClaimedHost, { plan, listings }: Look, { unknown }: SettledListings, { blocklists }: LookDeps) {
  if (listings.problem !== null || unknown.length === 0) return listings.problem
  if (!plan.grave && !plan.full) return host.detail
  const told = [...listings.told.values()].flat()
  return adviceOnSweep(told, blocklists.resolver.servers).at(-1) ?? null
}

/** After this time a suspicion that could be neither confirmed nor taken back waits for the next look. */
const SUSPECTED_FOR = 3_600_000

function recheckAt(host: ClaimedHost, settled: Settled, rhythm: Rhythm, now: Date): Date | null {
  const later = (wait: number) => new Date(now.getTime() + wait)
  const isYoung = ({ suspectAt }: FactRow) => suspectAt !== null && now.getTime() - suspectAt.getTime() < SUSPECTED_FOR
  if (factsAfter(host, settled).some(isYoung)) return later(rhythm.confirm)
  return settled.listings.hasFailedByChance ? later(rhythm.retry) : null
}

function factsAfter({ facts }: ClaimedHost, { listings, certificates, records }: Settled): FactRow[] {
  const all = [listings, certificates, records]
  const nameOf = ({ kind, subject }: FactRow) => `${kind} ${subject}`
  const left = new Map(facts.map((fact) => [nameOf(fact), fact]))
  for (const fact of all.flatMap(({ save }) => save)) left.set(nameOf(fact), fact)
  for (const fact of all.flatMap(({ forget }) => forget)) left.delete(nameOf(fact))
  return [...left.values()]
}

async function saveFacts(trx: Transaction<DB>, host: ClaimedHost, settled: Settled): Promise<void> {
  const { listings, certificates, records } = settled
  for (const part of [listings, certificates, records]) {
    for (const fact of part.save) await saveFact(trx, fact)
    for (const fact of part.forget) await deleteFact(trx, fact)
  }
  for (const address of listings.addresses) {
    const known = host.addresses.find(({ ip }) => ip === address.ip)
    if (!known || !isSameAddress(known, address)) await saveAddress(trx, address)
  }
  for (const ip of listings.goneIps) await deleteAddress(trx, host.id, ip)
}

/** Milliseconds by which a time may be off: not every look at ten thousand hosts has to write it down. */
const SEEN_WITHIN = 6 * 3_600_000

function isSameAddress(a: SettledListings['addresses'][number], b: SettledListings['addresses'][number]): boolean {
  return (
    a.seen.length === b.seen.length &&
    a.unknown.join(' ') === b.unknown.join(' ') &&
    b.lastSeenAt.getTime() - a.lastSeenAt.getTime() < SEEN_WITHIN
  )
}

/** While nobody looked nobody knows. */
async function countTime(trx: Transaction<DB>, host: ClaimedHost, period: Period, rhythm: Rhythm, now: Date) {
  const { lastCheckAt } = host
  if (lastCheckAt && now.getTime() - lastCheckAt.getTime() > MISSED_LOOKS * rhythm.grave) {
    await beginPeriod(trx, host.id, 'unknown', new Date(lastCheckAt.getTime() + rhythm.grave))
  }
  await beginPeriod(trx, host.id, period, now)
}
