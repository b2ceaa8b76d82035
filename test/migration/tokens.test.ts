import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freshDatabase } from '../database.ts'
import { createLog } from '../../src/log.ts'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { WAIT_TIMES } from '../../src/migration/limits.ts'
import { migrateMailbox } from '../../src/migration/engine/migrate.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { startTokens, type Tokens } from '../servers/tokens.ts'
import { accountOn, contents, fill, mail, read } from './mailbox.ts'
import { startMigrations } from './module.ts'

describe('a migration with access tokens', () => {
  let tokens: Tokens
  let from: MailServer
  let to: MailServer
  let line: Proxy

  beforeAll(async () => {
    tokens = await startTokens()
    ;[from, to] = await Promise.all([
      startDovecot({ tokensAt: tokens.url }),
      startDovecot({ tokensAt: tokens.url }),
    ])
    line = await startProxy(from.port)
    const letters = Array.from({ length: 400 }, () => ({ body: mail(6_000) }))
    await from.addUser('alice', 'secret')
    await fill(accountOn(from.port), { INBOX: letters, Sent: [{}, {}] })
    for (const user of ['one', 'two']) await to.addUser(user, 'secret')
  })
  afterAll(async () => {
    await line.close()
    await Promise.all([from.stop(), to.stop(), tokens.close()])
  })

  /**
   * What providers do after an hour: the token is worth nothing any more, and the connection ends.
   */
  function expire(token: string): void {
    tokens.valid.delete(token)
    line.roundTrip = 0
    line.cut()
  }
  async function expectAll(user: string): Promise<void> {
    const [here, there] = await Promise.all([
      read(accountOn(from.port)),
      read(accountOn(to.port, user)),
    ])
    for (const folder of ['INBOX', 'Sent'])
      expect(contents(there[folder])).toEqual(contents(here[folder]))
  }

  it('gets a new one when the old one expires, and continues (40)', async () => {
    tokens.valid.set('first', 'alice').set('for-one', 'one')
    let issued = 0
    // Slow enough for progress to be reported in the middle.
    line.roundTrip = 200
    const outcome = await migrateMailbox({
      source: {
        account: accountOn(line.port, 'alice', { password: undefined }),
        async freshToken() {
          issued += 1
          const token = issued === 1 ? 'first' : `renewed-${issued}`
          tokens.valid.set(token, 'alice')
          return token
        },
      },
      destination: {
        account: accountOn(to.port, 'one', { password: undefined, accessToken: 'for-one' }),
      },
      folders: 'all',
      options: { connections: 1 },
      journal: createMemoryJournal(),
      signal: new AbortController().signal,
      log: createLog('silent'),
      waitTimes: { ...WAIT_TIMES, reconnectMs: { first: 10, most: 50 }, quietMs: 700 },
      onProgress: ({ messagesDone }) =>
        messagesDone > 0 && tokens.valid.has('first') && expire('first'),
    })
    expect(outcome).toMatchObject({
      state: 'completed',
      progress: { messagesDone: 402, errorCount: 0 },
    })
    expect(issued).toBeGreaterThan(1)
    await expectAll('one')
  })

  it(
    'fails over the API when it expires, with the reason, and continues with another (40)',
    { timeout: 60_000 },
    async () => {
      const fresh = await freshDatabase()
      const portreeve = await startMigrations(fresh.url)
      try {
        const { token } = await portreeve.addPerson('Alice')
        tokens.valid.set('old', 'alice').set('for-two', 'two')
        const common = { host: '127.0.0.1', secure: false }
        const source = { ...common, port: line.port, user: 'alice', accessToken: 'old' }
        const destination = { ...common, port: to.port, user: 'two', accessToken: 'for-two' }
        // The token expires while the messages are on their way.
        line.roundTrip = 1_000
        const created = await portreeve.request('migrate', {
          token,
          body: { source, destination, folders: ['INBOX', 'Sent'] },
        })
        const { migrationId: id } = (await created.json()) as { migrationId: string }
        const status = async () => (await portreeve.request(`migrate/${id}`, { token })).json()
        const becomes = (wanted: object) =>
          vi.waitFor(async () => expect(await status()).toMatchObject(wanted), {
            timeout: 20_000,
            interval: 50,
          })
        await becomes({ status: 'running', progress: { messagesTotal: 402 } })
        expire('old')
        line.roundTrip = 0
        await becomes({ status: 'failed', progress: { errors: [{ folder: '', code: 'sign_in' }] } })
        expect(JSON.stringify(await status())).toContain('refused the access token')
        tokens.valid.set('new', 'alice')
        const body = { source: { accessToken: 'new' }, destination: { accessToken: 'for-two' } }
        expect((await portreeve.request(`migrate/${id}/retry`, { token, body })).status).toBe(200)
        await becomes({ status: 'completed', errorCount: 0, progress: { messagesDone: 402 } })
        await expectAll('two')
      } finally {
        await portreeve.stop()
        await fresh.drop()
      }
    },
  )
})
