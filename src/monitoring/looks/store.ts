import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { listFacts, type FactRow } from '../facts/store.ts'
import { listAddresses, type AddressRow } from '../listings/store.ts'
import type { Choices } from '../modes/modes.ts'
import { listChoices } from '../modes/store.ts'
import { HOST, type HostRow } from '../store.ts'

/** A host with all that is known of it, in the hands of one look. */
export type ClaimedHost = HostRow & { addresses: AddressRow[]; facts: FactRow[]; choices: Choices }

/**
 * Hosts that are due and with nobody: accounts in turn, those that have waited longest first; whoever takes them has them so
 * long.
 * @param except accounts of which enough are with us already
 */
export async function claimDue(
  db: Db,
  limit: number,
  leaseSeconds: number,
  except: string[] = [],
): Promise<ClaimedHost[]> {
  const inTurn = sql<string>`(
    select id from (
      select id, due_at, row_number() over (partition by account_id order by due_at) as turn from monitored_host
      where due_at <= now() and ${IS_FREE} and account_id <> all(${except}::uuid[])) due
    order by turn, due_at limit ${limit})`
  const due = db
    .selectFrom('monitoredHost')
    .select('id')
    .where('id', 'in', inTurn)
    .where('dueAt', '<=', sql<Date>`now()`)
    .where(IS_FREE)
    .forUpdate()
    .skipLocked()
  const rows = await claim(db, leaseSeconds).where('id', 'in', due).execute()
  return withKnowledge(db, rows as HostRow[])
}

/** One host, due or not; undefined while somebody else has it, or when it is gone. */
export async function claimHost(db: Db, id: string, leaseSeconds: number): Promise<ClaimedHost | undefined> {
  const rows = await claim(db, leaseSeconds).where('id', '=', id).where(IS_FREE).execute()
  return (await withKnowledge(db, rows as HostRow[]))[0]
}

const IS_FREE = sql<boolean>`coalesce(claimed_until, '-infinity') < now()`

function claim(db: Db, leaseSeconds: number) {
  return db
    .updateTable('monitoredHost')
    .set({ run: sql<number>`run + 1`, claimedUntil: sql<Date>`now() + ${leaseSeconds} * interval '1 second'` })
    .returning(HOST)
}

async function withKnowledge(db: Db, hosts: HostRow[]): Promise<ClaimedHost[]> {
  if (hosts.length === 0) return []
  const ids = hosts.map(({ id }) => id)
  const accounts = [...new Set(hosts.map(({ accountId }) => accountId))]
  const [addresses, facts, choices] = await Promise.all([
    listAddresses(db, ids),
    listFacts(db, ids),
    listChoices(db, accounts),
  ])
  const [addressesOf, factsOf] = [Map.groupBy(addresses, byHost), Map.groupBy(facts, byHost)]
  return hosts.map((host) => ({
    ...host,
    addresses: addressesOf.get(host.id) ?? [],
    facts: factsOf.get(host.id) ?? [],
    choices: choices.get(host.accountId) ?? {},
  }))
}

function byHost({ hostId }: { hostId: string }): string {
  return hostId
}

/** Gives a host back as it was. */
export async function releaseHost(db: Db, { id, run }: HostRow): Promise<void> {
  await db
    .updateTable('monitoredHost')
    .set({ claimedUntil: null })
    .where('id', '=', id)
    .where('run', '=', run)
    .execute()
}

type Outcome = Pick<
  HostRow,
  | 'status'
  | 'listedCount'
  | 'unknownCount'
  | 'totalChecked'
  | 'detail'
  | 'graveDueAt'
  | 'fullDueAt'
  | 'sideDueAt'
  | 'recheckAt'
> & { lastCheckAt: Date }

/** Ends a look at a host; false when it is not this look's any more. */
export async function markLooked(db: Db, { id, run }: HostRow, outcome: Outcome): Promise<boolean> {
  const row = await db
    .updateTable('monitoredHost')
    .set({ ...outcome, claimedUntil: null })
    .where('id', '=', id)
    .where('run', '=', run)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
