import { QueryClient, QueryObserver, type QueryKey } from '@tanstack/react-query'
import { globSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { updateOptimistically } from '../../web/src/optimistic-update.ts'
import { deleteWithUndo, sendDeletions } from '../../web/src/deletions.ts'
import { refreshChanged, refreshProblems } from '../../web/src/refresh-queries.ts'

const ends: (() => void)[] = []
beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  ends.splice(0).forEach((end) => end())
  vi.useRealTimers()
})

/** Lets milliseconds pass, with everything that happens in them. */
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)
const after = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Something shown; each answer is the number of the question, some milliseconds after it. */
function shown(queries: QueryClient, queryKey: QueryKey, { takes = 5, staleTime = 0 } = {}) {
  let asked = 0
  const queryFn = async () => {
    const mine = ++asked
    await after(takes)
    return mine
  }
  const observer = new QueryObserver(queries, { queryKey, queryFn, staleTime })
  ends.push(observer.subscribe(() => {}))
  return { asked: () => asked, data: () => observer.getCurrentResult().data }
}

describe('a shown query', () => {
  it('is refetched when its module changed, and other modules are not', async () => {
    const queries = new QueryClient()
    const [hosts, one] = [
      shown(queries, ['monitoring', 'hosts']),
      shown(queries, ['monitoring', 'host', 'a']),
    ]
    const cases = shown(queries, ['delisting', 'list', {}])
    await pass(20)
    refreshChanged(queries, { room: 'monitoring', id: 'a' })
    await pass(20)
    expect([hosts.data(), one.data(), cases.data()]).toEqual([2, 2, 1])
  })

  it('is fetched once again after any number of changes during a fetch', async () => {
    const queries = new QueryClient()
    const list = shown(queries, ['alerts', 'list'], { takes: 30 })
    await pass(50)
    for (let i = 0; i < 40; i++) {
      refreshChanged(queries, { room: 'alerts', id: null })
      await pass(2)
    }
    await pass(1_000)
    expect([list.asked(), list.data()]).toEqual([3, 3])
  })

  it('with the problems is refetched after changes of any module, every five seconds at most', async () => {
    const queries = new QueryClient()
    const problems = shown(queries, ['problems'])
    await pass(20)
    for (const room of ['monitoring', 'dmarc', 'delisting', 'migrations', 'alerts'] as const) {
      refreshChanged(queries, { room, id: 'a' })
      await pass(900)
      refreshProblems(queries)
    }
    expect(problems.asked()).toBe(2)
    await pass(600)
    expect([problems.asked(), problems.data()]).toEqual([3, 3])
    await pass(10_000)
    refreshChanged(queries, { room: 'requests', id: null })
    await pass(10_000)
    expect(problems.asked()).toBe(3)
  })

  it('is refetched when its first response may be outdated', async () => {
    const queries = new QueryClient()
    const list = shown(queries, ['shares'], { takes: 30 })
    refreshChanged(queries, { room: 'checks', id: null })
    await pass(800)
    expect(list.data()).toBe(2)
  })

  it('keeps an optimistic change while it is being sent', async () => {
    const queries = new QueryClient()
    const key = ['monitoring', 'lists']
    const list = shown(queries, key)
    await pass(20)
    const sent = updateOptimistically<number>(
      queries,
      key,
      () => 100,
      () => after(60),
    )
    refreshChanged(queries, { room: 'monitoring', id: null })
    await pass(40)
    expect([list.asked(), list.data()]).toEqual([1, 100])
    await pass(20)
    await sent
    await pass(20)
    expect(list.data()).toBe(2)
  })

  it('is not refetched after its object was deleted, unless that failed', async () => {
    const queries = new QueryClient()
    const [kept, gone] = ['kept', 'gone'].map((id) => shown(queries, ['delisting', 'one', id]))
    await pass(20)
    const list = ['delisting', 'list']
    deleteWithUndo(queries, { id: 'gone', text: '', list, send: async () => {} })
    const send = () => Promise.reject(new Error('no'))
    deleteWithUndo(queries, { id: 'kept', text: '', list, send })
    await sendDeletions()
    refreshChanged(queries, { room: 'delisting', id: null })
    await pass(20)
    expect(gone?.data()).toBe(1)
    expect(kept?.data()).toBeGreaterThan(1)
  })

  it('is refetched in every module when anything may have changed, except data that never changes', async () => {
    const queries = new QueryClient()
    const those = [
      ['dmarc', 'domains'],
      ['migration', 'x'],
      ['people', 1],
    ].map((key) => shown(queries, key))
    const report = shown(queries, ['dmarc', 'report', 'x'], { staleTime: Infinity })
    await pass(20)
    refreshChanged(queries, null)
    await pass(20)
    expect([...those, report].map(({ asked }) => asked())).toEqual([2, 2, 2, 1])
  })
})

/**
 * Queries that changes do not refresh: checks query other servers, health is polled, and the rest
 * never changes or is updated otherwise: captured requests and ranges.
 */
const BY_ITSELF = new Set([
  // Fetched again every few seconds.
  'webhooks deliveries',
  'webhooks replays',
  'check',
  'domain-check',
  'domain-record',
  'shared',
  'shared-mail-test',
  'shared-webhook-request',
  'service',
  'health',
  'attacks services',
  'mail-providers',
  'attacks candidates',
  'batches read',
  'webhooks',
  'attacks',
])

describe('every query of the dashboard', () => {
  it('is refreshed by the stream, or is on the list of exceptions', () => {
    const source = globSync('web/src/**/*.ts')
      .map((file) => readFileSync(file, 'utf8').replaceAll('[ROOT,', "['dmarc',"))
      .join('\n')
    const keys = [...source.matchAll(/queryKey: \['([\w-]+)'(?:, '([\w-]+)')?/g)].map(
      ([, one, two]) => [one, two],
    )
    const table = readFileSync('web/src/refresh-queries.ts', 'utf8')
    const isRenewed = ([one, two]: (string | undefined)[]) =>
      table.includes(`['${one}']`) ||
      table.includes(`['${one}', '${two}'`) ||
      table.includes(`['${one}', ...`)
    const others = keys.filter((key) => !isRenewed(key)).map((key) => key.join(' ').trim())
    expect(keys.length).toBeGreaterThan(20)
    expect(others.filter((key) => !BY_ITSELF.has(key))).toEqual([])
  })
})
