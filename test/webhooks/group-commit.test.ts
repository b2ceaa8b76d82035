import { describe, expect, it, vi } from 'vitest'
import { createLog } from '../../src/log.ts'
import { createGroupCommit } from '../../src/webhooks/capture/capture-commits.ts'
import { openDatabase } from '../../src/store/database.ts'
import { startWebhooks } from './module.ts'

type Row = { endpointId: string; body: Buffer }
const row = (endpointId = 'e', bytes = 1): Row => ({ endpointId, body: Buffer.alloc(bytes) })
const log = createLog('silent')

/** A commit whose transactions the test lets end. */
function controlled() {
  const batches: {
    rows: Row[]
    end: (alive: Map<string, string>) => void
    fail: (error: Error) => void
  }[] = []
  const onStored = vi.fn()
  const insert = (rows: Row[]) =>
    new Promise<Map<string, string>>((end, fail) => {
      batches.push({ rows, end, fail })
    })
  return { batches, onStored, commits: createGroupCommit<Row>({ insert, onStored, log }) }
}

describe('commits in groups', () => {
  it('store a single row at once, rows during a commit together, and a crowd in two commits and a rest', async () => {
    const { batches, commits } = controlled()
    const sizes = () => batches.map(({ rows }) => rows.length)
    const end = (index: number) => batches[index]?.end(new Map([['e', 'a']]))
    const first = commits.add(row())
    await vi.waitFor(() => expect(sizes()).toEqual([1]))
    const others = [commits.add(row()), commits.add(row()), commits.add(row('gone'))]
    await vi.waitFor(() => expect(sizes()).toEqual([1, 3]))
    end(0)
    expect(await first).toBe('stored')
    end(1)
    expect(await Promise.all(others)).toEqual(['stored', 'stored', 'gone'])
    const crowd = Array.from({ length: 50 }, () => commits.add(row()))
    await vi.waitFor(() => expect(sizes()).toEqual([1, 3, 20, 20]))
    end(2)
    await vi.waitFor(() => expect(sizes()).toEqual([1, 3, 20, 20, 10]))
    end(3)
    end(4)
    expect(new Set(await Promise.all(crowd))).toEqual(new Set(['stored']))
  })

  it('acknowledge no request of a failed group, and continue with the next', async () => {
    const { batches, commits, onStored } = controlled()
    const failing = [commits.add(row()), commits.add(row())]
    await vi.waitFor(() => expect(batches).toHaveLength(1))
    const next = commits.add(row())
    batches[0]?.fail(new Error('no'))
    expect(await Promise.all(failing)).toEqual(['failed', 'failed'])
    expect(onStored).not.toHaveBeenCalled()
    await vi.waitFor(() => expect(batches).toHaveLength(2))
    batches[1]?.end(new Map([['e', 'a']]))
    expect(await next).toBe('stored')
  })

  it('stay within a thousand rows and eight mebibytes each', async () => {
    const { batches, commits } = controlled()
    void commits.add(row())
    await vi.waitFor(() => expect(batches).toHaveLength(1))
    for (let i = 0; i < 3_500; i++) void commits.add(row())
    for (let i = 0; i < 20; i++) void commits.add(row('e', 1024 * 1024))
    const stored = () => batches.reduce((sum, { rows }) => sum + rows.length, 0)
    for (let i = 0; i < batches.length || stored() < 3_521; i++) {
      await vi.waitFor(() => expect(batches.length).toBeGreaterThan(i))
      batches[i]?.end(new Map([['e', 'a']]))
    }
    expect(stored()).toBe(3_521)
    expect(Math.max(...batches.map(({ rows }) => rows.length))).toBe(1_000)
    const mebibytes = batches.map(
      ({ rows }) => rows.reduce((sum, { body }) => sum + body.length, 0) / 1024 / 1024,
    )
    expect(Math.max(...mebibytes)).toBeGreaterThan(6)
    expect(Math.max(...mebibytes)).toBeLessThanOrEqual(8)
  })

  it('accept at most ten thousand waiting rows', async () => {
    const { batches, commits } = controlled()
    void commits.add(row())
    await vi.waitFor(() => expect(batches).toHaveLength(1))
    for (let i = 0; i < 10_000; i++) void commits.add(row())
    expect(await commits.add(row())).toBe('full')
  })
})

describe('a database that cannot store', () => {
  it('makes senders retry, and reports no request as stored', async () => {
    const portreeve = await startWebhooks({ LOG_LEVEL: 'silent' })
    const { pool, close } = openDatabase(portreeve.portreeve.databaseUrl)
    const endpoint = await portreeve.makeEndpoint()
    await pool.query('alter table webhook_request rename to elsewhere')
    const answer = await portreeve.portreeve.request(`/webhooks/${endpoint.token}`, {
      method: 'POST',
      body: 'x',
    })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    await pool.query('alter table elsewhere rename to webhook_request')
    expect((await portreeve.portreeve.request(`/webhooks/${endpoint.token}`)).status).toBe(200)
    expect(await portreeve.captured(endpoint)).toHaveLength(1)
    expect((await portreeve.api('GET', `/${endpoint.id}`)).json.endpoint.requestCount).toBe(1)
    await close()
    await portreeve.stop()
  })
})
