import type { Static, TObject, TSchema } from 'typebox'
import type { CheckDeps } from './check-services.ts'

/** One check on demand: its name, query, data, and the work itself. */
export type Check<Query extends TObject = TObject, Data extends TSchema = TSchema> = {
  /** Its name on the command line: `portreeve check <name> TARGET`. */
  name: string
  /** Its path in the API. */
  path: `/api/v1/${string}`
  summary: string
  description: string
  query: Query
  data: Data
  /** One query and its answer, as the documentation shows them. */
  example: { query: Static<Query>; data: Static<Data> }
  /**
   * Runs the check before `signal` aborts. Failed queries are part of the result.
   * @throws Fault `invalid_request`, `target_not_allowed`, `upstream_*`
   */
  run(query: Static<Query>, deps: CheckDeps, signal: AbortSignal): Promise<Static<Data>>
}

/** Keeps the types of query and data together. */
export function defineCheck<Query extends TObject, Data extends TSchema>(
  check: Check<Query, Data>,
): Check<Query, Data> {
  return check
}

/** Milliseconds within which every check responds, whatever the network does. */
export const CHECK_DEADLINE_MS = 9_000
