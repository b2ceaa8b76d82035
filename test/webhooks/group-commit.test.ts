import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { createLog } from '../../src/log.ts'
import { createGroupCommit } from '../../src/webhooks/group-commit.ts'
import { openDatabase } from '../../src/store/database.ts'
import { startRoom } from './room.ts'

type Row = { endpointId: string; body: Buffer }
const row = (endpointId = 'e', bytes = 1): Row => ({ endpointId, body: Buffer.alloc(bytes) })
const log = createLog('silent')

/** A commit whose transactions the test lets end. */
function controlled() {
  const batches: { rows: Row[]; end: (alive: Set<string>) => void; fail: (error: Error) => void }[] = []
  const onStored = vi.fn()
  const insert = (rows: Row[]) =>
    new Promise<Set<string>>((end, fail) => {
      batches.push({ rows, end, fail })
    })
  return { batches, onStored, commits: createGroupCommit<Row>({ insert, onStored, log }) }
}

describe('commits in groups', () => {
  it('let a lone row go at once, and those that come meanwhile together', async () => {
    const { batches, commits } = controlled()
    const first = commits.add(row())
    await vi.waitFor(() => expect(batches).toHaveLength(1))
    const others = [commits.add(row()), commits.add(row()), commits.add(row('gone'))]
    await sleep(20)
    expect(batches).toHaveLength(1)
    batches[0]?.end(new Set(['e']))
    expect(await first).toBe('stored')
    await vi.waitFor(() => expect(batches[1]?.rows).toHaveLength(3))
    batches[1]?.end(new Set(['e']))
    expect(await Promise.all(others)).toEqual(['stored', 'stored', 'gone'])
  })

  it('acknowledge nobody of a group that failed, and go on with the next', async () => {
    const { batches, commits, onStored } = controlled()
    const failing = [commits.add(row()), commits.add(row())]
    await vi.waitFor(() => expect(batches).toHaveLength(1))
    const next = commits.add(row())
    batches[0]?.fail(new Error('no'))
    expect(await Promise.all(failing)).toEqual(['failed', 'failed'])
    expect(onStored).not.toHaveBeenCalled()
    await vi.waitFor(() => expect(batches).toHaveLength(2))
    batches[1]?.end(new Set(['e']))
    expect(await next).toBe('stored')
  })

  it('stay within a thousand rows and eight mebibytes each', async () => {
    const { batches, commits } = controlled()
    void commits.add(row())
    await vi.waitFor(() => expect(batches).toHaveLength(1))
    for (let i = 0; i < 1_500; i++) void commits.add(row())
    for (let i = 0; i < 20; i++) void commits.add(row('e', 1024 * 1024))
    const sizes: number[] = []
    for (let i = 0; i < 5; i++) {
      await vi.waitFor(() => expect(batches).toHaveLength(i + 1))
      sizes.push(batches[i]?.rows.length ?? 0)
      batches[i]?.end(new Set(['e']))
    }
    expect(sizes).toEqual([1, 1_000, 507, 8, 5])
  })

  it('take no more than ten thousand that wait', async () => {
    const { batches, commits } = controlled()
    void commits.add(row())
    await vi.waitFor(() => expect(batches).toHaveLength(1))
    for (let i = 0; i < 10_000; i++) void commits.add(row())
    expect(await commits.add(row())).toBe('full')
  })
})

describe('a database that cannot store', () => {
  it('has its senders told to come back, and nothing is called stored', async () => {
    const room = await startRoom({ LOG_LEVEL: 'silent' })
    const { pool, close } = openDatabase(room.house.databaseUrl)
    const endpoint = await room.makeEndpoint()
    await pool.query('alter table webhook_request rename to elsewhere')
    const answer = await room.house.request(`/webhooks/${endpoint.token}`, { method: 'POST', body: 'x' })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    await pool.query('alter table elsewhere rename to webhook_request')
    expect((await room.house.request(`/webhooks/${endpoint.token}`)).status).toBe(200)
    expect(await room.captured(endpoint)).toHaveLength(1)
    expect((await room.api('GET', `/${endpoint.id}`)).json.endpoint.requestCount).toBe(1)
    await close()
    await room.stop()
  })
})
