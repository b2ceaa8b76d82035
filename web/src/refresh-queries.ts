import type { Query, QueryClient, QueryKey } from '@tanstack/react-query'
import type { Change } from './change-events.ts'
import { isDeleted } from './deletions.ts'
import { isUpdating } from './optimistic-update.ts'

/**
 * Milliseconds between two fetches, and a multiple of the last duration, so that large lists cause
 * little load.
 */
const REFETCH_PACE = { least: 500, times: 2, most: 10_000 }

/** The problems of the workspace, which every screen counts and almost every change may concern. */
const PROBLEMS = ['problems']
const PROBLEMS_PACE_MS = 5_000

/** The queries to refresh when a module changed. */
const QUERY_KEYS: Record<Change['room'], (id: string | null) => QueryKey[]> = {
  monitoring: () => [['monitoring'], ['domains'], ['addresses'], PROBLEMS],
  dmarc: () => [['dmarc'], ['domains'], ['addresses'], PROBLEMS],
  delisting: () => [['delisting'], ['addresses'], PROBLEMS],
  migrations: (id) => [
    ['migrations'],
    ['mail-credentials'],
    ['mail-providers'],
    ['migration', ...some(id)],
    ['batches', 'list'],
    ['batches', 'one', ...some(id)],
    PROBLEMS,
  ],
  alerts: () => [['alerts'], PROBLEMS],
  webhooks: (id) => [
    ['webhooks', 'all'],
    ['webhooks', 'one', ...some(id)],
    ['webhooks', 'rules', ...some(id)],
    ['webhooks', 'destinations', ...some(id)],
    ['webhooks', 'shares', ...some(id)],
  ],
  requests: () => [
    ['webhooks', 'all'],
    ['account', 'usage'],
  ],
  attacks: () => [
    ['attacks', 'network'],
    ['attacks', 'map'],
    ['attacks', 'tokens'],
    ['attacks', 'fleet'],
    ['attacks', 'feeds'],
    ['attacks', 'relays'],
    ['attacks', 'mails'],
    ['attacks', 'watched'],
    ['attacks', 'address'],
    ['addresses'],
  ],
  checks: (id) => [
    ...(id === null ? [['shares'], ['domains'], PROBLEMS] : []),
    ['mail-tests'],
    ['complaints'],
    ['canaries'],
    ['provider-statistics'],
  ],
  account: () => [['account'], ['tokens'], ['sessions'], ['workspaces']],
  workspace: () => [['account'], ['workspaces']],
  administration: () => [
    ['people'],
    ['acts'],
    ['attacks', 'appeals'],
    ['attacks', 'hold'],
    ['attacks', 'whitelist'],
    ['attacks', 'sensors'],
    ['attacks', 'feeds'],
    ['attacks', 'peers'],
    PROBLEMS,
  ],
}

/** Refreshes the problems after a change that no event reports. */
export const refreshProblems = (queries: QueryClient) => refreshKeys(queries, [PROBLEMS])

const some = (id: string | null) => (id === null ? [] : [id])

/** Refreshes the shown queries of a change; null stands for everything that may change. */
export function refreshChanged(queries: QueryClient, change: Change | null): void {
  const keys = change
    ? QUERY_KEYS[change.room](change.id)
    : Object.values(QUERY_KEYS).flatMap((keysOf) => keysOf(null))
  refreshKeys(queries, keys)
}

function refreshKeys(queries: QueryClient, keys: QueryKey[]): void {
  for (const queryKey of keys) {
    // Queries that are not shown are fetched when they are shown.
    void queries.invalidateQueries({ queryKey, refetchType: 'none', predicate: mayChange })
    for (const query of queries.getQueryCache().findAll({ queryKey, type: 'active' }))
      refresh(queries, query)
  }
}

const refreshes = new WeakMap<Query, { isDue: boolean }>()

/** Fetches one after the other: restarting a fetch at every change might never end. */
function refresh(queries: QueryClient, query: Query): void {
  const running = refreshes.get(query)
  if (running) return void (running.isDue = true)
  const state = { isDue: true }
  refreshes.set(query, state)
  void refetchWhileDue(queries, query, state).finally(() => refreshes.delete(query))
}

async function refetchWhileDue(
  queries: QueryClient,
  query: Query,
  state: { isDue: boolean },
): Promise<void> {
  const { queryKey } = query
  const least = queryKey[0] === PROBLEMS[0] ? PROBLEMS_PACE_MS : REFETCH_PACE.least
  while (state.isDue) {
    // A first response in transit is kept, but may be outdated.
    state.isDue = query.state.data === undefined && query.state.fetchStatus !== 'idle'
    const startedAt = performance.now()
    await queries.refetchQueries({ queryKey, exact: true, type: 'active', predicate: mayChange })
    const pause = Math.min(
      REFETCH_PACE.most,
      Math.max(least, REFETCH_PACE.times * (performance.now() - startedAt)),
    )
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

function mayChange({ queryKey, queryHash, observers }: Query): boolean {
  if (isUpdating(queryHash) || queryKey.some(isDeleted)) return false
  return observers.every(({ options }) => options.staleTime !== Infinity)
}
