import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { deleteRows, lockRow, type Row } from '../../store/row.ts'
import type { Conditions } from '../conditions/conditions.ts'
import { MAX_SEQUENCE_KEYS } from '../limits.ts'
import type { RuleAnswer } from './shapes.ts'

const COLUMNS = [
  'id',
  'label',
  'enabled',
  'conditions as when',
  'answers',
  'afterLast as after',
  'key',
  'keyMinutes',
  'createdAt',
] as const

export type RuleRow = Row<
  'webhookRule',
  typeof COLUMNS,
  {
    when: Conditions
    answers: RuleAnswer[]
    after: 'last' | 'repeat'
  }
>

export type RuleValues = Partial<Omit<RuleRow, 'id' | 'createdAt'>>

/** Lists the rules of an endpoint in their order. */
export async function listRules(db: Db, endpointId: string): Promise<RuleRow[]> {
  const rows = await db
    .selectFrom('webhookRule')
    .select(COLUMNS)
    .where('endpointId', '=', endpointId)
    .orderBy('position')
    .orderBy('id')
    .execute()
  return rows as unknown as RuleRow[]
}

/** Locks the rules of an endpoint until the transaction ends. */
export async function lockRules(db: Db, workspaceId: string): Promise<void> {
  await lockRow(db, 'workspace', ['id'], { id: workspaceId })
}

/** Adds a rule behind the others. */
export async function insertRule(
  db: Db,
  endpointId: string,
  { answers = [], ...values }: RuleValues,
): Promise<RuleRow> {
  const row = await db
    .insertInto('webhookRule')
    .values({
      endpointId,
      position: sql<number>`(select coalesce(max(position), 0) + 1 from webhook_rule where endpoint_id = ${endpointId})`,
      answers: JSON.stringify(answers),
      ...columnsOf(values),
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  return row as unknown as RuleRow
}

export async function updateRule(
  db: Db,
  endpointId: string,
  id: string,
  values: RuleValues,
): Promise<RuleRow | undefined> {
  const row = await db
    .updateTable('webhookRule')
    .set({ id, ...columnsOf(values) })
    .where('id', '=', id)
    .where('endpointId', '=', endpointId)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row as unknown as RuleRow | undefined
}

function columnsOf({ when, answers, after, ...rest }: RuleValues) {
  return {
    ...rest,
    ...(when && { conditions: JSON.stringify(when) }),
    ...(answers && { answers: JSON.stringify(answers) }),
    ...(after && { afterLast: after }),
  }
}

export async function deleteRule(db: Db, endpointId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'webhookRule', { id, endpointId })
}

/** @param ids of all rules of the endpoint */
export async function orderRules(db: Db, endpointId: string, ids: string[]): Promise<void> {
  await sql`
    update webhook_rule r set position = o.position
    from unnest(${ids}::uuid[]) with ordinality as o (id, position)
    where r.id = o.id and r.endpoint_id = ${endpointId}`.execute(db)
}

/** Requests of one key of a sequence. */
export type SequenceStep = { ruleId: string; key: string; requests: number; minutes: number | null }

/**
 * Counts requests of sequences, for all instances.
 * @returns the count of each key after these requests, and whether it is new. A rule that was deleted
 *   has none
 */
export async function countSequences(
  db: Db,
  steps: SequenceStep[],
): Promise<{ ruleId: string; key: string; count: number; isNew: boolean }[]> {
  const ruleIds = steps.map(({ ruleId }) => ruleId)
  const keys = steps.map(({ key }) => key)
  const requests = steps.map((step) => step.requests)
  const minutes = steps.map((step) => step.minutes)
  // In one order, so that two instances never wait for each other.
  const { rows } = await sql<{ ruleId: string; key: string; count: number; isNew: boolean }>`
    insert into webhook_rule_state as s (rule_id, key, count, expires_at)
    select r.id, u.key, u.requests, now() + make_interval(mins => u.minutes)
    from unnest(${ruleIds}::uuid[], ${keys}::text[], ${requests}::int[], ${minutes}::int[]) as u (rule_id, key, requests, minutes)
    join webhook_rule r on r.id = u.rule_id
    order by r.id, u.key
    on conflict (rule_id, key) do update set
      count = case when s.expires_at <= now() then excluded.count else s.count + excluded.count end,
      expires_at = excluded.expires_at
    returning rule_id, key, count, xmax = 0 as is_new`.execute(db)
  return rows
}

/** Restarts the sequence of a key, or those of all keys. */
export async function resetSequences(
  db: Db,
  ruleId: string,
  key: string | undefined,
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('webhookRuleState')
    .where('ruleId', '=', ruleId)
    .$if(key !== undefined, (query) => query.where('key', '=', key as string))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Forgets the keys of a sequence that are beyond the limit, those first that expire first. */
export async function trimSequence(db: Db, ruleId: string): Promise<void> {
  await sql`
    delete from webhook_rule_state where rule_id = ${ruleId} and key in (
      select key from webhook_rule_state where rule_id = ${ruleId}
      order by expires_at desc nulls first offset ${MAX_SEQUENCE_KEYS})`.execute(db)
}
