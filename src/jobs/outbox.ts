import { sql, type RawBuilder } from 'kysely'
import { Fault, messageOf } from '../errors.ts'
import { mayHaveBeenAccepted } from '../net/handover.ts'
import type { Db } from '../store/database.ts'
import { claimWhere, isFree, timeOf, type ClaimOptions, type DueRows } from '../store/due-rows.ts'

/**
 * Messages to others that a table holds. Each is sent at most once after it was handed over,
 * whenever a sender dies or stalls:
 *
 * - due (`waiting`): a sender claims it for a lease, which counts the claim;
 * - claimed (`sending`): the sender composes it. Where the sender dies, the message is due again;
 * - handed over (`handed-over`, or `sending` with a time): the receiver may have it. Where the sender
 *   dies now, it ends as `uncertain`, and is not sent again;
 * - ended: `sent`, `failed` or `uncertain`, or another state of the table.
 *
 * Each write of a sender names its claim, and changes nothing where another sender has the message
 * by then: one that stalled can neither send it again nor replace what its successor stored.
 */
export type Outbox = {
  /** Claims messages `r`: a statement. @param returning expressions of `r` */
  claim: <Row>(
    which: RawBuilder<unknown>,
    returning: RawBuilder<unknown> | readonly string[],
    options?: Pick<ClaimOptions, 'now' | 'leaseSeconds'> & { set?: Columns },
  ) => RawBuilder<Row>
  /**
   * Records that the receiver may have the messages from now on.
   * @throws Fault `conflict` when this sender no longer has all of them: it must send none
   */
  handOver: (db: Db, claims: readonly Claim[], at?: Date) => Promise<void>
  /** Ends messages. @returns false when this sender no longer has them */
  end: (db: Db, claims: readonly Claim[], state: string, columns: Columns) => Promise<boolean>
  /** Makes messages due again. @returns false when this sender no longer has them */
  putBack: (db: Db, claims: readonly Claim[], dueAt: Date, columns: Columns) => Promise<boolean>
  /**
   * Recovers the messages of dead senders: those that were handed over end as uncertain, the others
   * are due again.
   * @param which of the messages `r` whose lease is over, or that have none
   */
  recover: (db: Db, options?: { which?: RawBuilder<unknown>; now?: Date }) => Promise<void>
}

export type OutboxOptions = {
  /** The columns that identify a message; `id` by default. */
  key?: readonly string[]
  /** The column with why the last attempt failed. */
  reason: string
  /** The column with the time of the end; null where a message is followed by the next in its row. */
  endedAt?: string | null
  /** The column with the time of the hand-over, where it is no state. */
  handedOverAt?: string
  /** The columns of which one message waits: another one that waits replaces one that is put back. */
  oneWaits?: readonly string[]
  /** Whether message `r` lost what it is sent to: it fails instead of being sent again. */
  isOrphan?: RawBuilder<unknown>
}

/** A message that a sender has claimed, with its key and its count of claims. */
type Claim = object
/** Columns and their new values. */
type Columns = Record<string, unknown>

const STOPPED = 'The service stopped while sending.'

/** Whether a message `r` is claimed and has not ended. */
const IS_CLAIMED = sql`r.state in ('sending', 'handed-over')`

/** @param rows with their columns `state`, `attempts` and `ended_at` */
export function createOutbox(rows: DueRows, options: OutboxOptions): Outbox {
  const { key = ['id'], reason, endedAt = 'endedAt', handedOverAt, oneWaits } = options
  const { isOrphan = sql`false` } = options
  const table = sql.table(rows.table)
  const isHandedOver = handedOverAt
    ? sql`${refOf(handedOverAt)} is not null`
    : sql`r.state = 'handed-over'`
  const notHandedOver = handedOverAt ? { [handedOverAt]: null } : {}
  const free = { ...notHandedOver, ...(rows.claimedUntil && { [rows.claimedUntil]: null }) }

  /** The messages that these claims still have. */
  function owned(claims: readonly Claim[]): RawBuilder<unknown> {
    const columns = [...key, rows.claims ?? 'attempts']
    const each = claims.map((claim) => {
      const isSame = (column: string) => sql`${refOf(column)} = ${(claim as Columns)[column]}`
      return sql`(${sql.join(columns.map(isSame), sql` and `)})`
    })
    return sql`${IS_CLAIMED} and (${sql.join(each, sql` or `)})`
  }

  async function update(db: Db, which: RawBuilder<unknown>, columns: Columns): Promise<number> {
    const change = sql`update ${table} as r set ${assign(columns)} where ${which}`
    const { numAffectedRows } = await change.execute(db)
    return Number(numAffectedRows)
  }

  /** Deletes messages that another one replaces, which waits by now or was claimed later. */
  async function deleteReplaced(db: Db, which: RawBuilder<unknown>): Promise<number> {
    if (!oneWaits) return 0
    const isSame = oneWaits.map((column) => sql`${sql.ref(`other.${column}`)} = ${refOf(column)}`)
    const { numAffectedRows } = await sql`delete from ${table} as r where ${which} and exists (
      select from ${table} as other where ${sql.join(isSame, sql` and `)} and (other.state = 'waiting'
        or other.state in ('sending', 'handed-over') and other.id > r.id))`.execute(db)
    return Number(numAffectedRows)
  }

  return {
    claim(which, returning, { set, ...lease } = {}) {
      const claimed = { state: 'sending', attempts: sql`r.attempts + 1`, ...notHandedOver, ...set }
      return claimWhere(rows, { ...lease, set: assign(claimed) }, which, returning)
    },
    async handOver(db, claims, at) {
      const handed = handedOverAt ? { [handedOverAt]: at } : { state: 'handed-over' }
      const keys = sql.join(key.map(refOf))
      // All or none: a batch of which another sender has a part is not sent.
      const { numAffectedRows } = await sql`
        with owned as materialized (select ${keys} from ${table} as r where ${owned(claims)} for no key update)
        update ${table} as r set ${assign(handed)}
        where (${keys}) in (select * from owned) and (select count(*) from owned) = ${claims.length}::int`.execute(
        db,
      )
      if (Number(numAffectedRows) !== claims.length)
        throw new Fault('conflict', 'Another sender has this message.')
    },
    async end(db, claims, state, columns) {
      return (await update(db, owned(claims), { state, ...columns })) === claims.length
    },
    async putBack(db, claims, dueAt, columns) {
      const replaced = await deleteReplaced(db, owned(claims))
      const waiting = { state: 'waiting', [rows.dueAt]: dueAt, ...free, ...columns }
      return (await update(db, owned(claims), waiting)) === claims.length - replaced
    },
    async recover(db, { which = sql`true`, now } = {}) {
      const abandoned = sql`${IS_CLAIMED} and ${isFree(rows, now)} and ${which}`
      await deleteReplaced(db, sql`${abandoned} and not (${isHandedOver})`)
      const isOver = sql`(${isHandedOver} or ${isOrphan})`
      await update(db, abandoned, {
        state: sql`case when ${isHandedOver} then 'uncertain' when ${isOrphan} then 'failed' else 'waiting' end`,
        [reason]: STOPPED,
        ...(endedAt && { [endedAt]: sql`case when ${isOver} then ${timeOf(now)} end` }),
        ...(rows.claimedUntil && { [rows.claimedUntil]: null }),
      })
    },
  }
}

function refOf(column: string): RawBuilder<unknown> {
  return sql.ref(`r.${column}`)
}

function assign(columns: Columns): RawBuilder<unknown> {
  return sql.join(
    Object.entries(columns).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
  )
}

/** What follows from a failed attempt. */
export type Failure =
  | { state: 'uncertain' | 'failed'; reason: string }
  | { state: 'waiting'; reason: string; dueAt: Date }

export type Attempt = {
  /** From 1 on. */
  attempts: number
  /** Before each retry. After the last one, the message has failed. */
  retryDelaysMs: readonly number[]
  /** Milliseconds since 1970. */
  now: number
  /** Aborted when the service stops: the message is due again at once. */
  signal?: AbortSignal
}

/**
 * Decides what follows from a failed attempt; null where another sender has the message. A relay’s
 * 5xx is permanent (RFC 5321, section 4.2.1).
 */
export function failureOf(
  error: unknown,
  { attempts, retryDelaysMs, now, signal }: Attempt,
): Failure | null {
  const reason = messageOf(error)
  const code = error instanceof Fault ? error.code : null
  if (code === 'conflict') return null
  if (mayHaveBeenAccepted(error)) return { state: 'uncertain', reason }
  if (signal?.aborted) return { state: 'waiting', reason: STOPPED, dueAt: new Date(now) }
  const delayMs = retryDelaysMs[attempts - 1]
  if (code === 'upstream_rejected' || delayMs === undefined) return { state: 'failed', reason }
  return { state: 'waiting', reason, dueAt: new Date(now + delayMs) }
}
