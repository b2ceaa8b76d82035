import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRowJournal } from '../../src/migration/run/row-journal.ts'
import {
  claimMigration,
  markAlive,
  markReleased,
  type Run,
} from '../../src/migration/run/migration-runs.sql.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startMigrations, type MigrationTest, type Person } from './module.ts'
import { NO_PROGRESS, storeMigration } from './stored.ts'

type Migration = {
  status: string
  errorCount: number
  progress: { foldersDone: number; errors: { folder: string; code: string; uid?: number }[] }
}
type Page = { pagination: { total: number } } & Record<string, object[]>

describe('all fields of a response', () => {
  let fresh: FreshDatabase
  let portreeve: MigrationTest

  beforeAll(async () => {
    fresh = await freshDatabase()
    portreeve = await startMigrations(fresh.url, { works: false })
  })
  afterAll(async () => {
    await portreeve.stop()
    await fresh.drop()
  })

  let people = 0
  const newPerson = () => portreeve.addPerson(`Person ${(people += 1)}`.replace(' ', ''))
  async function get<T>(path: string, { token }: Person, body?: object): Promise<T> {
    const response = await portreeve.request(path, { token, ...(body && { body }) })
    return response.json() as Promise<T>
  }
  /** The first event of a migration. */
  async function eventOf(id: string, { token }: Person): Promise<Migration> {
    const stop = new AbortController()
    const { signal } = stop
    const stream = await portreeve.request(`migrate/${id}/events`, { token, signal })
    let text = ''
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString()
      if (/^data: .*\n\n/m.test(text)) break
    }
    stop.abort()
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '') as Migration
  }
  async function running(person: Person): Promise<Run> {
    const id = await storeMigration(fresh.db, person.id, 'mover', { status: 'pending' })
    const claimed = await claimMigration(fresh.db, id)
    if (!claimed || claimed === 'busy') throw new Error('it was not claimed')
    return { id, run: claimed.run }
  }
  /** Errors are stored at once. */
  async function fail(run: Run, folders: string[], uid: number | null = null): Promise<void> {
    const journal = createRowJournal(fresh.db, run)
    const about = { uid, messageId: null, size: null, code: 'no_such_mailbox', attempts: 1 }
    for (const folder of folders) await journal.report({ ...about, folder, message: 'It is away.' })
  }
  /** The progress is stored once a second. */
  const report = (run: Run, errorCount: number) =>
    markAlive(fresh.db, run, {
      progress: { ...NO_PROGRESS, foldersDone: errorCount, errorCount },
      throughput: null,
    })

  it('are of the moment of the progress, with the errors that it counts', async () => {
    const alice = await newPerson()
    const run = await running(alice)
    const shown = async () => {
      const answer = await get<Migration>(`migrate/${run.id}`, alice)
      expect({ success: true, ...(await eventOf(run.id, alice)) }).toEqual(answer)
      const { errorCount, progress } = answer
      return [errorCount, progress.foldersDone, progress.errors.map(({ folder }) => folder)]
    }
    await fail(run, ['a'])
    await report(run, 1)
    await fail(run, ['b', 'c'])
    expect(await shown()).toEqual([1, 1, ['a']])
    await report(run, 3)
    expect(await shown()).toEqual([3, 3, ['a', 'b', 'c']])
    // Counted, but not stored yet.
    await report(run, 4)
    expect(await shown()).toEqual([3, 4, ['a', 'b', 'c']])
  })

  it('count every error of a migration that is cancelled, and its end', async () => {
    const bob = await newPerson()
    const run = await running(bob)
    await fail(run, ['a'])
    await report(run, 1)
    await fail(run, ['b', 'c'])
    const cancelled = await get<Migration>(`migrate/${run.id}/cancel`, bob, {})
    expect(cancelled).toMatchObject({ status: 'failed', errorCount: 4 })
    expect(cancelled.progress.errors.map(({ code }) => code).at(-1)).toBe('cancelled')
    expect(cancelled.progress.errors).toHaveLength(4)
    const { data } = await get<{ data: { migrations: Migration[] } }>('migrations', bob)
    expect(data.migrations).toMatchObject([{ errorCount: 4 }])
  })

  it('are of the run that continues an interrupted one, which tries failed folders again', async () => {
    const carol = await newPerson()
    const run = await running(carol)
    await fail(run, ['a', 'b'])
    await fail(run, ['c'], 7)
    await report(run, 3)
    await markReleased(fresh.db, run)
    const claimed = await claimMigration(fresh.db, run.id)
    if (!claimed || claimed === 'busy') throw new Error('it was not claimed')
    const next = { id: run.id, run: claimed.run }
    await fail(next, ['b'])
    await report(next, 2)
    const { errorCount, progress } = await get<Migration>(`migrate/${run.id}`, carol)
    expect([errorCount, progress.errors]).toMatchObject([
      2,
      [{ folder: 'c', uid: 7 }, { folder: 'b' }],
    ])
  })

  describe('are of one moment when a change is committed between two of its queries:', () => {
    /** Commits a change after the first query of the service whose text matches. */
    function changeAfter(query: RegExp, change: string, values: unknown[] = []): () => boolean {
      let isDone = false
      function watch(client: PoolClient): void {
        const run = client.query.bind(client) as Query
        const watched: Query = (...asked) => {
          const result = run(...asked)
          if (isDone || !query.test(textOf(asked[0]))) return result
          isDone = true
          return result.then(async (rows) => {
            await fresh.pool.query(change, values)
            return rows
          })
        }
        Object.assign(client, { query: watched })
      }
      portreeve.pool.on('acquire', watch)
      return () => {
        portreeve.pool.off('acquire', watch)
        return isDone
      }
    }
    type Query = (...asked: unknown[]) => Promise<unknown>
    const textOf = (asked: unknown) =>
      typeof asked === 'string' ? asked : String((asked as { text?: string }).text)

    async function batchOf(person: Person): Promise<string> {
      const side = { host: '127.0.0.1', port: 1, secure: false }
      const text = 'user,password\na,secret\nb,secret\nc,secret\n'
      const body = { name: 'Example Ltd', text, source: side, destination: { ...side, port: 2 } }
      return (await get<{ data: { batch: { id: string } } }>('batches', person, body)).data.batch.id
    }
    const deleting = (table: string) =>
      `delete from ${table} where id = (select id from ${table} limit 1)`

    it.each([
      ['migrations', 'migrations', /batch_id is null/, deleting('migration')],
      ['batches', 'batches', /count\(\*\)/, deleting('migration_batch')],
      ['batches/:id/mailboxes', 'mailboxes', /count\(\*\)/, deleting('batch_mailbox')],
    ])('the page of %s', async (route, name, query, change) => {
      await fresh.pool.query('delete from migration; delete from migration_batch')
      const dave = await newPerson()
      await storeMigration(fresh.db, dave.id, 'one')
      const path = route.replace(':id', await batchOf(dave))
      const end = changeAfter(query, change)
      const { data } = await get<{ data: Page }>(path, dave)
      expect(end()).toBe(true)
      expect(data[name]).toHaveLength(data.pagination.total)
    })

    it('the counts and problems of a batch', async () => {
      const erin = await newPerson()
      const id = await batchOf(erin)
      const change = `update batch_mailbox set state = 'needs_attention', problem = 'sign_in', message = 'No.' where batch_id = $1`
      const end = changeAfter(/jsonb_object_agg/, change, [id])
      const { data } = await get<{
        data: { counts: Record<string, number>; problems: { count: number }[] }
      }>(`batches/${id}`, erin)
      expect(end()).toBe(true)
      const { ready = 0, needs_attention: problems = 0 } = data.counts
      expect(ready + problems).toBe(3)
      expect(data.problems.reduce((sum, { count }) => sum + count, 0)).toBe(problems)
    })

    it('the counts and mailboxes of an event of a batch', async () => {
      const frank = await newPerson()
      const id = await batchOf(frank)
      await fresh.pool.query(
        `update batch_mailbox set changed_at = now() + interval '1 minute' where batch_id = $1`,
        [id],
      )
      const change = `update batch_mailbox set state = 'done' where batch_id = $1`
      const end = changeAfter(/from "?batch_mailbox|jsonb_object_agg/, change, [id])
      const stop = new AbortController()
      const { signal } = stop
      const stream = await portreeve.request(`batches/${id}/events`, { ...frank, signal })
      let text = ''
      for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
        text += Buffer.from(chunk).toString()
        if (/^data: .*\n\n/m.test(text)) break
      }
      stop.abort()
      expect(end()).toBe(true)
      const event = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '') as {
        batch: { counts: Record<string, number> }
        mailboxes: { state: string }[]
      }
      const { done } = event.batch.counts
      expect(event.mailboxes).toHaveLength(3)
      expect(event.mailboxes.filter(({ state }) => state === 'done')).toHaveLength(done ?? 0)
    })
  })
})
