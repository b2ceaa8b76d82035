import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, fill } from './mailbox.ts'
import { startMigrations, type Person, type MigrationTest } from './module.ts'

type Answer = {
  migrationId: string
  status: string
  errorCount: number
  startedAt: string | null
  progress: { foldersTotal: number; errors: object[] }
  details?: { path: string; message: string }[]
}

describe('responses of a migration', () => {
  let server: MailServer
  let fresh: FreshDatabase
  let portreeve: MigrationTest
  let alice: Person
  let people = 0

  beforeAll(async () => {
    ;[server, fresh] = await Promise.all([startDovecot(), freshDatabase()])
    portreeve = await startMigrations(fresh.url)
    for (const user of ['alice', 'bob']) await server.addUser(user, 'secret')
    await fill(accountOn(server.port), { INBOX: [{}], Sent: [{}] })
  })
  afterAll(async () => {
    await portreeve.stop()
    await Promise.all([fresh.drop(), server.stop()])
  })
  beforeEach(async () => {
    alice = await portreeve.addPerson(`Alice${(people += 1)}`)
  })

  const sideOf = (user: string) => ({
    host: '127.0.0.1',
    port: server.port,
    secure: false,
    user,
    password: 'secret',
  })
  const whole = () => ({
    source: sideOf('alice'),
    destination: sideOf('bob'),
    folders: ['INBOX', 'Sent'],
  })
  const secrets = { source: { password: 'secret' }, destination: { password: 'secret' } }
  async function post(path: string, body: unknown, { token } = alice) {
    const response = await portreeve.request(path, { token, body })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Answer,
    }
  }
  async function get(id: string): Promise<Answer> {
    return (
      await portreeve.request(`migrate/${id}`, { token: alice.token })
    ).json() as Promise<Answer>
  }
  async function failedOne(): Promise<Answer> {
    const wrong = { ...whole(), source: { ...sideOf('alice'), password: 'wrong' } }
    const { body } = await post('migrate', wrong)
    return failed(body.migrationId)
  }
  const failed = (id: string) =>
    vi.waitFor(
      async () => {
        const answer = await get(id)
        expect(answer.status).toBe('failed')
        return answer
      },
      { timeout: 10_000, interval: 50 },
    )

  it('is the limit of the month before anything about the hosts', async () => {
    const diana = await portreeve.addPerson('Diana', 'free')
    expect((await post('migrate', whole(), diana)).status).toBe(201)
    for (const host of ['10.0.0.1', 'nowhere.invalid']) {
      for (const side of ['source', 'destination'] as const) {
        const body = { ...whole(), [side]: { ...sideOf('alice'), host } }
        const answer = await post('migrate', body, diana)
        expect([answer.status, answer.body]).toMatchObject([429, { code: 'monthly_limit' }])
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      }
    }
    const dry = { ...whole(), source: { ...sideOf('alice'), host: '10.0.0.1' }, dryRun: true }
    expect((await post('migrate', dry, diana)).status).toBe(403)
  })

  it('names the wrong field as in the request', async () => {
    const wrong = { host: 'a b', user: 'a\r\nb', password: 'a\0b' }
    for (const [field, value] of Object.entries(wrong)) {
      const connection = { ...sideOf('alice'), [field]: value }
      for (const path of ['test-connection', 'list-folders']) {
        expect(await post(path, connection)).toMatchObject({
          status: 400,
          body: { details: [{ path: field }] },
        })
      }
      for (const side of ['source', 'destination']) {
        const { body } = await post('migrate', { ...whole(), [side]: connection })
        expect(body.details).toMatchObject([{ path: `${side}.${field}` }])
      }
    }
  })

  it('is the same for a dry run as for a migration', async () => {
    const { body } = await post('migrate', {
      ...whole(),
      folders: ['INBOX', 'Missing'],
      dryRun: true,
    })
    expect(await failed(body.migrationId)).toMatchObject({
      errorCount: 1,
      progress: {
        foldersTotal: 2,
        messagesTotal: 1,
        errors: [{ folder: 'Missing', code: 'no_such_mailbox' }],
      },
    })
    const { rows } = await fresh.pool.query('select title from alert where workspace_id = $1', [
      alice.id,
    ])
    expect(rows).toEqual([{ title: 'The dry run of the migration to bob on 127.0.0.1 failed' }])
  })

  it('restarts with a retry, and counts only its own errors', async () => {
    const first = await failedOne()
    expect(first).toMatchObject({ errorCount: 1, progress: { foldersTotal: 2 } })
    const hidden = `update migration set source = jsonb_set(source, '{host}', '"10.0.0.1"') where id = $1`
    await fresh.pool.query(hidden, [first.migrationId])
    const again = await post(`migrate/${first.migrationId}/retry`, secrets)
    expect(again.body).toMatchObject({
      status: 'pending',
      startedAt: null,
      completedAt: null,
      errorCount: 0,
    })
    const second = await failed(first.migrationId)
    expect(second).toMatchObject({
      errorCount: 1,
      progress: { errors: [{ code: 'target_not_allowed' }] },
    })
    expect(Date.parse(String(second.startedAt))).toBeGreaterThan(
      Date.parse(String(first.startedAt)),
    )
  })

  it('is the same in an event', async () => {
    const { migrationId } = await failedOne()
    const told = await get(migrationId)
    const stop = new AbortController()
    const stream = await portreeve.request(`migrate/${migrationId}/events`, {
      token: alice.token,
      signal: stop.signal,
    })
    let text = ''
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString()
      if (/^data: .*\n\n/m.test(text)) break
    }
    stop.abort()
    const event = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '') as Answer
    expect({ success: true, ...event }).toEqual(told)
  })
})
