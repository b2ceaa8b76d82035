import { sql, type RawBuilder } from 'kysely'
import { PLANS, type Plan } from '../config.ts'
import type { Db } from './database.ts'

/**
 * The account that answers for the workspace of a row: its first owner. What protects other accounts
 * counts for it, over all its workspaces. Where a workspace has no owner, the id of the workspace.
 * @param column the column with the id of the workspace, such as `c.workspace_id`
 */
export function responsibleFor(column: string): RawBuilder<string> {
  return sql<string>`(select responsible_id from workspace where workspace.id = ${sql.ref(column)})`
}

/** The account that answers for a workspace; see `responsibleFor`. */
export async function findResponsible(db: Db, workspaceId: string): Promise<string> {
  return (await mapResponsible(db, [workspaceId])).get(workspaceId) ?? workspaceId
}

/** The accounts that answer for these workspaces, by workspace. */
export async function mapResponsible(
  db: Db,
  workspaceIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; responsibleId: string }>`
    select id, responsible_id from workspace where id = any(${workspaceIds}::uuid[])`.execute(db)
  return new Map(rows.map(({ id, responsibleId }) => [id, responsibleId]))
}

/** All workspaces of the accounts that answer for these workspaces. */
export async function listOfSameAccounts(db: Db, workspaceIds: string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workspace where responsible_id in (
      select responsible_id from workspace where id = any(${workspaceIds}::uuid[]))`.execute(db)
  return rows.map(({ id }) => id)
}

/** The workspaces that these accounts answer for. */
export async function listAnsweredFor(
  db: Db,
  accountIds: string[],
): Promise<{ id: string; responsibleId: string }[]> {
  const { rows } = await sql<{ id: string; responsibleId: string }>`
    select id, responsible_id from workspace where responsible_id = any(${accountIds}::uuid[])`.execute(
    db,
  )
  return rows
}

/** The plan of each of these accounts; see `largestPlanOf`. */
export async function listLargestPlans(
  db: Db,
  accountIds: string[],
): Promise<{ id: string; plan: Plan }[]> {
  const { rows } = await sql<{ id: string; plan: Plan }>`
    select given.id, ${largestPlanOf(sql`given.id`)} as plan from unnest(${accountIds}::uuid[]) as given (id)`.execute(
    db,
  )
  return rows
}

/** Selects the ids of the workspaces that an account answers for. */
export function workspacesOf(responsible: string | RawBuilder<string>): RawBuilder<string> {
  return sql<string>`(select id from workspace where responsible_id = ${responsible})`
}

/**
 * The plan whose limits an account has over all its workspaces: the largest of its own and of
 * theirs, because an administrator may have given one of them a larger plan.
 */
export function largestPlanOf(responsible: string | RawBuilder<string>): RawBuilder<Plan> {
  return sql<Plan>`(
    select plan from (
      select plan from account where id = ${responsible}
      union all select plan from workspace where responsible_id = ${responsible}) as plans
    order by array_position(${[...PLANS]}::text[], plan) desc limit 1)`
}
