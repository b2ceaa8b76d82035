import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import { ADMINISTRATORS, notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { discardEvidence } from '../peer-evidence/peer-evidence.sql.ts'
import { withdraw } from '../peer-evidence/evidence-journal.sql.ts'
import { countSourceRequest } from '../intake/intake.sql.ts'
import type { Reporter } from '../reputation/reporter.ts'
import { insertRefutations } from '../reputation/reputation.sql.ts'
import { lockAddress, saveAddresses, type AddressRow } from '../attack-list.sql.ts'
import {
  closeAppeals,
  decideAppeal,
  hasAppeal,
  hasAppealOf,
  insertAppeal,
  wasGrantedSince,
  type AppealRow,
} from './appeals.sql.ts'
import type { Subject } from '../subject.ts'
import { DAY_MS } from '../../time.ts'

/** Milliseconds after a granted appeal in which a new listing needs more evidence. */
const PROBATION_MS = 14 * DAY_MS
/** A second appeal of the same address within this time is decided by an administrator. */
const GRANT_INTERVAL_MS = 30 * DAY_MS

/**
 * Appeals in a day, counted by appellant and never by the address they are about: otherwise an
 * attacker could use up the appeals of its owner. An owner’s appeal counts for the listed address
 * alone, so that neighbors cannot use them up either.
 */
const APPEALS_A_DAY = { source: 10, network: 30, origin: 100 }

export type AppealRequest = { subject: Subject; reason: string; reporter: Reporter }

/**
 * Submits an appeal against a listing. An appeal from the listed address itself is granted once in
 * thirty days, regardless of other appeals; all others are decided by an administrator.
 * @throws Fault `conflict` when the address is not listed or this appellant’s appeal waits already,
 *   `rate_limited`
 */
export async function appeal(
  db: Kysely<DB>,
  { subject, reason, reporter }: AppealRequest,
  now: number,
): Promise<AppealRow> {
  const own = reporter.key === subject.key
  await limit(db, reporter, own, now)
  return db.transaction().execute(async (trx) => {
    const row = await lockAddress(trx, subject.key)
    if (row?.state !== 'listed') throw new Fault('conflict', `${subject.ip} is not listed.`)
    const monthAgo = new Date(now - GRANT_INTERVAL_MS)
    const granted = own && !(await wasGrantedSince(trx, subject.key, monthAgo))
    const said = { address: subject.key, appellant: reporter.source, own }
    if (!granted && (await hasAppealOf(trx, said, monthAgo)))
      throw new Fault('conflict', againSentence(subject.ip, own))
    if (granted) {
      await acquit(trx, row, now)
      // Other appeals against this listing are obsolete.
      await closeAppeals(trx, subject.key, 'granted')
    }
    await notifyChange(trx, ADMINISTRATORS, 'administration')
    return insertAppeal(trx, { ...said, reason, status: granted ? 'granted' : 'open' })
  })
}

function againSentence(ip: string, own: boolean): string {
  if (own) return `Your appeal for ${ip} is waiting for an administrator.`
  return `You appealed for ${ip} in the last 30 days. Appeal from ${ip} itself, or wait for the decision.`
}

async function limit(
  db: Kysely<DB>,
  { source, network, origin }: Reporter,
  own: boolean,
  now: number,
): Promise<void> {
  const times = { now: new Date(now), windowStart: new Date(now - DAY_MS) }
  const limits = own
    ? [{ key: `appeal ${source}`, most: APPEALS_A_DAY.source, whose: 'your address' }]
    : [
        { key: `appeal for others ${source}`, most: APPEALS_A_DAY.source, whose: 'your address' },
        { key: `appeal ${network}`, most: APPEALS_A_DAY.network, whose: 'your network' },
        { key: `appeal ${origin}`, most: APPEALS_A_DAY.origin, whose: 'your provider' },
      ]
  for (const { key, most, whose } of limits) {
    if ((await countSourceRequest(db, key, times)) <= most) continue
    const sentence = `The limit of ${most} appeals a day from ${whose} is used up. Try again tomorrow.`
    throw new Fault('rate_limited', sentence, { retryAfter: DAY_MS / 1000 })
  }
}

/**
 * Records an administrator’s decision. A granted appeal costs every network that supported the
 * listing reputation.
 * @throws Fault `not_found`, `conflict` when it is already decided
 */
export async function decide(
  db: Kysely<DB>,
  id: string,
  upheld: boolean,
  now: number,
): Promise<AppealRow> {
  return db.transaction().execute(async (trx) => {
    const decided = await decideAppeal(trx, id, upheld ? 'upheld' : 'rejected')
    if (!decided && (await hasAppeal(trx, id)))
      throw new Fault('conflict', 'This appeal has already been decided.')
    if (!decided) throw new Fault('not_found', 'The appeal was not found.')
    const row = upheld ? await lockAddress(trx, decided.address) : undefined
    if (row) await refute(trx, row, now)
    return decided
  })
}

/** Deletes wrong reports. The networks that sent them lose reputation. */
export async function refute(trx: Transaction<DB>, row: AddressRow, now: number): Promise<void> {
  const networks = [...new Set(row.evidence.map(({ network }) => network))]
  const refutations = networks.map((network) => ({
    network,
    address: row.address,
    cause: 'appeal' as const,
  }))
  await insertRefutations(trx, refutations, new Date(now))
  await acquit(trx, row, now)
  await closeAppeals(trx, row.address, 'upheld')
}

/**
 * Removes an address and its evidence from the list, here and at peers that received it. New
 * reports start from zero.
 */
async function acquit(trx: Transaction<DB>, row: AddressRow, now: number): Promise<void> {
  const acquitted: AddressRow = {
    ...row,
    state: 'delisted',
    score: 0,
    confidence: 'none',
    evidence: [],
    services: [],
    networks: 0,
    confirmation: 'none',
    probationUntil: new Date(now + PROBATION_MS),
  }
  await saveAddresses(trx, [acquitted])
  await discardEvidence(trx, row.address, new Date(now))
  await withdraw(trx, row.address)
}
