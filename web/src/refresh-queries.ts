import type { Query, QueryClient, QueryKey } from '@tanstack/react-query'
import type { Change } from './change-events.ts'
import { isUpdating } from './optimistic-update.ts'

/** Milliseconds between two questions, and how many times as long as the last one took: a large list is no burden. */
const REFETCH_PACE = { least: 500, times: 2, most: 10_000 }

/** What is asked anew when something changed in a room. */
const QUERY_KEYS: Record<Change['room'], (id: string | null) => QueryKey[]> = {
  monitoring: () => [['monitoring']],
  dmarc: () => [['dmarc']],
  delisting: () => [['delisting']],
  migrations: (id) => [['migrations'], ['migration', ...some(id)]],
  alerts: () => [['alerts']],
  webhooks: (id) => [
    ['webhooks', 'all'],
    ['webhooks', 'one', ...some(id)],
  ],
  requests: () => [['webhooks', 'all']],
  attacks: () => [
    ['attacks', 'network'],
    ['attacks', 'tokens'],
    ['attacks', 'address'],
  ],
  checks: () => [['shares']],
  account: () => [['account'], ['tokens'], ['sessions']],
  administration: () => [
    ['people'],
    ['acts'],
    ['attacks', 'appeals'],
    ['attacks', 'hold'],
    ['attacks', 'whitelist'],
    ['attacks', 'sensors'],
  ],
}

const some = (id: string | null) => (id === null ? [] : [id])

/** Asks anew for what is shown of it; null is everything that may change. */
export function refreshChanged(queries: QueryClient, change: Change | null): void {
  const keys = change ? QUERY_KEYS[change.room](change.id) : Object.values(QUERY_KEYS).flatMap((keysOf) => keysOf(null))
  for (const queryKey of keys) {
    // What is not shown is asked for when it is.
    void queries.invalidateQueries({ queryKey, refetchType: 'none', predicate: mayChange })
    for (const query of queries.getQueryCache().findAll({ queryKey, type: 'active' })) refresh(queries, query)
  }
}

const turns = new WeakMap<Query, { isDue: boolean }>()

/** One question after the other: asking anew while an answer is on its way would never end where much changes. */
function refresh(queries: QueryClient, query: Query): void {
  const running = turns.get(query)
  if (running) return void (running.isDue = true)
  const turn = { isDue: true }
  turns.set(query, turn)
  void refetchWhileDue(queries, query, turn).finally(() => turns.delete(query))
}

async function refetchWhileDue(queries: QueryClient, query: Query, turn: { isDue: boolean }): Promise<void> {
  const { queryKey } = query
  while (turn.isDue) {
    // A first answer on its way is not given up, but may be of before.
    turn.isDue = query.state.data === undefined && query.state.fetchStatus !== 'idle'
    const begun = performance.now()
    await queries.refetchQueries({ queryKey, exact: true, type: 'active', predicate: mayChange })
    const pause = Math.min(
      REFETCH_PACE.most,
      Math.max(REFETCH_PACE.least, REFETCH_PACE.times * (performance.now() - begun)),
    )
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

function mayChange({ queryKey, queryHash, observers }: Query): boolean {
  if (isUpdating(queryHash) || queryKey.some((part) => gone.has(part))) return false
  return observers.every(({ options }) => options.staleTime !== Infinity)
}

const gone = new Set<unknown>()

/** Deletes something that is shown: what the screen shows of it until it is left is not asked for any more. */
export async function deleteShown(id: string, remove: () => Promise<unknown>): Promise<void> {
  gone.add(id)
  try {
    await remove()
  } catch (error) {
    gone.delete(id)
    throw error
  }
}
