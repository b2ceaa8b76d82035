import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { runPortreeve } from '../cli/command.ts'
import { accountOn, contents, fill, read } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { MAIL_APP } from '../servers/mail-administrators.ts'
import { startMailProvider, type MailProviderServer } from '../servers/mail-provider.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { BASE_URL, CALLBACK } from './browser.ts'

let provider: MailProviderServer
let from: MailServer
let to: MailServer
let portreeve: TestService
let database: Database
let alice: Person
let bob: Person

beforeAll(async () => {
  provider = await startMailProvider(CALLBACK)
  ;[from, to] = await Promise.all([
    startDovecot({
      introspectAt: provider.introspectionUrl,
      userAttributes: ['sub', 'mailbox1', 'mailbox2'],
    }),
    startDovecot(),
  ])
  portreeve = await startTestService({ BASE_URL, REQUEST_LIMITS: 'off', ...provider.settings })
  database = openDatabase(portreeve.databaseUrl)
  for (const user of ['alice', 'bob']) {
    await from.addUser(user, 'secret')
    for (const name of [user, `${user}2`, `${user}3`]) await to.addUser(name, 'secret')
    await fill(accountOn(from.port, user), { INBOX: [{}, {}], Sent: [{}] })
  }
  alice = await portreeve.addPerson('Alice', { plan: 'enterprise' })
  bob = await portreeve.addPerson('Bob')
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
  await Promise.all([from.stop(), to.stop(), provider.stop()])
})

type Answer = { status: number; data: never; text: string }

async function ask(path: string, body?: object, method = body ? 'POST' : 'GET', who = alice) {
  const response = await portreeve.request(`/api/v1/imap/${path}`, {
    method,
    token: who.token,
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body ? JSON.stringify(body) : null,
  })
  const text = await response.text()
  const json = JSON.parse(text) as { data?: never; success: boolean }
  return { status: response.status, text, data: (json.data ?? json) as never } satisfies Answer
}

const add = (more: object) => ask('credentials', { provider: 'other', ...more })
const byKey = (more: object = {}) => add({ serviceAccount: provider.serviceAccount, ...more })
const app = { tenant: 'example.com', ...MAIL_APP }
const source = (user: string, credentialId: string) => ({
  host: '127.0.0.1',
  port: from.port,
  secure: false,
  user,
  credentialId,
})
const idOf = ({ data }: Answer) => (data as { id: string }).id

async function expectCopied(user: string, copy: string): Promise<void> {
  const [here, there] = [
    await read(accountOn(from.port, user)),
    await read(accountOn(to.port, copy)),
  ]
  for (const folder of ['INBOX', 'Sent'])
    expect(contents(there[folder])).toEqual(contents(here[folder]))
}

describe('an administrator’s sign-in for all mailboxes', () => {
  it('is accepted after the provider was asked, and its secret is shown to nobody', async () => {
    const added = await byKey({ user: 'alice' })
    expect([added.status, added.data]).toEqual([
      201,
      expect.objectContaining({
        kind: 'service_account',
        account: 'mover@project.iam.test',
        clientId: '1000000001',
        state: 'valid',
      }),
    ])
    const application = await add({ app })
    expect([application.status, application.data]).toEqual([
      201,
      expect.objectContaining({ kind: 'app', account: 'example.com', clientId: 'mail-app' }),
    ])
    const { text } = await ask('credentials')
    const { rows } = await database.pool.query(
      'select to_jsonb(t)::text as row from mail_credential t',
    )
    for (const shown of [text, JSON.stringify(rows)])
      expect(shown).not.toMatch(/PRIVATE KEY|the-secret-of-the-mail-app/)
    for (const one of [added, application]) {
      const { status } = await ask(`credentials/${idOf(one)}/check`, {}, 'POST', bob)
      expect(status).toBe(404)
      expect((await ask(`credentials/${idOf(one)}`, undefined, 'DELETE')).status).toBe(200)
    }
  })

  it('is rejected with the reason and what to do', async () => {
    provider.state.isDelegated = false
    const refusals: [Promise<Answer>, number, string][] = [
      [
        byKey({ user: 'alice' }),
        422,
        'Domain-wide delegation isn’t allowed for the client ID 1000000001 with the scope imap.',
      ],
      [
        add({ app: { ...app, clientSecret: 'wrong' } }),
        422,
        'rejects the secret of the application mail-app',
      ],
      [
        add({ serviceAccount: '{"type":"authorized_user"}' }),
        400,
        'its type must be service_account',
      ],
      [add({ serviceAccount: 'private' }), 400, 'is not JSON'],
      [add({ provider: 'google', app }), 400, 'provider offers service_account'],
      [add({}), 400, 'serviceAccount'],
    ]
    for (const [answer, status, words] of refusals) {
      const { status: got, text } = await answer
      expect([got, text]).toEqual([status, expect.stringContaining(words)])
    }
    provider.state.isDelegated = true
    const unknown = await byKey({ user: 'nobody@mail.test' })
    expect([unknown.status, unknown.text]).toEqual([
      422,
      expect.stringContaining('has no mailbox nobody@mail.test that this service account may open'),
    ])
  })

  it('opens the mailboxes of a batch, waits once for all when rejected, and is kept until the batch is finished', async () => {
    const id = idOf(await byKey())
    provider.state.isDelegated = false
    const created = await ask('batches', {
      name: 'Example Ltd',
      text: 'user,destination_password\nalice,secret\nbob,secret\n',
      source: { ...source('', id), user: undefined },
      destination: { host: '127.0.0.1', port: to.port, secure: false },
    })
    expect([created.status, created.data]).toEqual([
      201,
      expect.objectContaining({ added: 2, invalid: 0 }),
    ])
    const batch = `batches/${(created.data as { batch: { id: string } }).batch.id}`
    await ask(`${batch}/start`, {})
    const counts = (wanted: object) =>
      vi.waitFor(async () => expect((await ask(batch)).data).toMatchObject({ counts: wanted }), {
        timeout: 20_000,
        interval: 100,
      })
    await counts({ needs_attention: 2 })
    const problems = (await ask(batch)).data as { problems: object[] }
    expect(problems.problems).toMatchObject([{ code: 'consent_needed', count: 2 }])
    const alerts = await portreeve.request('/api/v1/alerts', { token: alice.token })
    const titles = (await alerts.text()).match(/no longer opens mailboxes/g)
    expect(titles).toHaveLength(1)
    expect((await ask(`credentials/${id}/check`, {})).status).toBe(422)
    provider.state.isDelegated = true
    const { administratorTokens } = provider.state
    expect((await ask(`credentials/${id}/check`, {})).data).toMatchObject({ state: 'valid' })
    await counts({ in_sync: 2 })
    await expectCopied('alice', 'alice')
    await expectCopied('bob', 'bob')
    // One token for each mailbox, and one for the check.
    expect(provider.state.administratorTokens - administratorTokens).toBe(3)
    expect((await ask(`credentials/${id}`, undefined, 'DELETE')).status).toBe(409)
    await database.pool.query("update mail_credential set keep_until = now() - interval '1 day'")
    expect((await ask(`${batch}/finish`, {})).status).toBe(200)
    // It stays for the next mailboxes, for 30 days.
    const { rows } = await database.pool.query(
      "select keep_until > now() + interval '29 days' as kept from mail_credential",
    )
    expect(rows).toEqual([{ kept: true }])
    expect((await ask(`credentials/${id}`, undefined, 'DELETE')).status).toBe(200)
  }, 60_000)

  it('opens a mailbox as an application', async () => {
    const id = idOf(await add({ app }))
    const tested = await ask('list-folders', source('bob', id))
    expect(tested.text).toContain('"totalMessages":3')
    const started = await ask('migrate', {
      source: source('bob', id),
      destination: {
        host: '127.0.0.1',
        port: to.port,
        secure: false,
        user: 'bob2',
        password: 'secret',
      },
      folders: ['INBOX', 'Sent'],
    })
    const { migrationId } = started.data as { migrationId: string }
    await vi.waitFor(
      async () =>
        expect((await ask(`migrate/${migrationId}`)).data).toMatchObject({ status: 'completed' }),
      { timeout: 20_000, interval: 100 },
    )
    await expectCopied('bob', 'bob2')
    const elsewhere = { ...source('bob', id), host: 'localhost' }
    expect((await ask('test-connection', elsewhere)).text).toContain(
      'is for the servers of Example Mail',
    )
  }, 30_000)

  it('opens the mailboxes of a command', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signin-'))
    const [key, list] = [join(folder, 'key.json'), join(folder, 'list.csv')]
    writeFileSync(key, provider.serviceAccount)
    writeFileSync(
      list,
      'user,destination_user,destination_password\nalice,alice3,secret\nbob,bob3,secret\n',
    )
    const batch = ['--batch', list, '--source', `imap://127.0.0.1:${from.port}`]
    const { code, out, err } = await runPortreeve(
      [
        'migrate',
        ...batch,
        '--destination',
        `imap://127.0.0.1:${to.port}`,
        '--source-service-account',
        key,
        '--state',
        folder,
      ],
      { ...provider.settings },
    )
    expect([code, err], out).toEqual([0, ''])
    expect(out).toContain('2 of 2 mailboxes, 6 messages')
    await expectCopied('alice', 'alice3')
    const single = await runPortreeve(
      [
        'migrate',
        '--source',
        `imap://alice@127.0.0.1:${from.port}`,
        '--destination',
        `imap://alice2@127.0.0.1:${to.port}`,
        '--source-app',
        `example.com/${MAIL_APP.clientId}`,
        '--all',
        '--state',
        folder,
      ],
      {
        ...provider.settings,
        PORTREEVE_SOURCE_PASSWORD: MAIL_APP.clientSecret,
        PORTREEVE_DESTINATION_PASSWORD: 'secret',
      },
    )
    expect([single.code, single.err]).toEqual([0, expect.any(String)])
    await expectCopied('alice', 'alice2')
  }, 60_000)
})
