import { sql, type RawBuilder } from 'kysely'

/**
 * Whether the workspace of a row is deleted, and only kept so that an owner can restore it. Its
 * background work pauses.
 * @param column the column with the id of the workspace, such as `c.workspace_id`
 */
export function isInDeletedWorkspace(column: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from workspace deleted where deleted.id = ${sql.ref(column)} and deleted.delete_after is not null)`
}
