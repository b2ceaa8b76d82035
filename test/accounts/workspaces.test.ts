import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { deleteExpiredWorkspaces } from '../../src/accounts/workspaces/delete-expired.ts'
import { changeRole, removeMember } from '../../src/accounts/workspaces/members/members.ts'
import { removeAccount } from '../../src/accounts/accounts.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import type { Role } from '../../src/http/access.ts'
import { insertMembership } from '../../src/accounts/workspaces/workspaces.sql.ts'
import { createLog } from '../../src/log.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { startAccounts, type AccountsTest, type Person } from './module.ts'

type Reply = { status: number; code?: string; error?: string; data?: unknown }
type Workspace = {
  id: string
  name: string
  role: Role
  deleteAfter: string | null
  isCurrent: boolean
}
type Member = { accountId: string; email: string; role: Role; isYou: boolean }

let database: FreshDatabase
let sink: Sink
/** Two instances: a change through one counts at once in the other. */
let portreeve: AccountsTest
let other: AccountsTest
let count = 0

beforeAll(async () => {
  sink = await startSink()
  database = await freshDatabase()
  portreeve = await startAccounts(database.url, { SMTP_URL: sink.url })
  other = await startAccounts(database.url, { SMTP_URL: sink.url })
})
afterAll(async () => {
  await portreeve.stop()
  await other.stop()
  await database.drop()
  await sink.stop()
})
beforeEach(() => void (sink.mails.length = 0))

type Browser = (method: string, path: string, body?: object, workspace?: string) => Promise<Reply>

async function browserOf(person: Person, instance = portreeve): Promise<Browser> {
  const cookie = await instance.signIn(person)
  return async (method, path, body, workspace) => {
    const response = await instance.request(path, {
      method,
      cookie,
      ...(body && { body }),
      ...(workspace && { headers: { 'x-workspace': workspace } }),
    })
    return { status: response.status, ...((await response.json()) as object) }
  }
}

const addPerson = (name: string, plan: 'free' | 'pro' = 'free') =>
  portreeve.addPerson(`${name}${++count}`, { plan })

/** A workspace of Alice with more members. */
async function team(roles: Record<string, Role> = {}) {
  const alice = await addPerson('Alice', 'pro')
  const people: Record<string, Person> = {}
  for (const [name, role] of Object.entries(roles)) {
    const person = await addPerson(name)
    await insertMembership(database.db, { workspaceId: alice.id, accountId: person.id, role })
    people[name] = person
  }
  return { alice, people, path: `/api/v1/workspaces/${alice.id}` }
}

const membersOf = async (ask: Browser, path: string) =>
  (await ask('GET', `${path}/members`)).data as Member[]
const workspacesOf = async (ask: Browser) =>
  (await ask('GET', '/api/v1/workspaces')).data as Workspace[]

describe('a workspace', () => {
  it('is listed with the role and members, and named by the account', async () => {
    const { alice, people } = await team({ Bob: 'read-only' })
    const bob = await browserOf(people['Bob'] as Person)
    const list = await workspacesOf(bob)
    expect(list).toMatchObject([
      { id: people['Bob']?.id, role: 'owner', members: 1, isCurrent: true, deleteAfter: null },
      { id: alice.id, role: 'read-only', members: 2, plan: 'pro', isCurrent: false },
    ])
    const { data } = await bob('GET', '/api/v1/account', undefined, alice.id)
    expect(data).toMatchObject({
      id: people['Bob']?.id,
      role: 'read-only',
      workspace: { id: alice.id, name: list[1]?.name },
    })
  })

  it('is the only one that a token lists', async () => {
    const { alice, people } = await team({ Bob: 'member' })
    const bob = people['Bob'] as Person
    const response = await portreeve.request('/api/v1/workspaces', { token: bob.token })
    const { data } = (await response.json()) as { data: Workspace[] }
    expect(data.map(({ id }) => id)).toEqual([bob.id])
    const foreign = await portreeve.request(`/api/v1/workspaces/${alice.id}/members`, {
      token: bob.token,
    })
    expect(foreign.status).toBe(403)
  })

  it('is created up to the limit of the plan, also by concurrent requests', async () => {
    const free = await browserOf(await addPerson('Free'))
    expect(await free('POST', '/api/v1/workspaces', { name: 'Second' })).toMatchObject({
      status: 409,
    })
    const pro = await addPerson('Pro', 'pro')
    const ask = await browserOf(pro)
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, n) => ask('POST', '/api/v1/workspaces', { name: `W${n}` })),
    )
    expect(all.filter(({ status }) => status === 201)).toHaveLength(9)
    expect(await workspacesOf(ask)).toHaveLength(10)
    const byToken = await portreeve.request('/api/v1/workspaces', {
      token: pro.token,
      body: { name: 'By a token' },
    })
    expect(byToken.status).toBe(403)
  })

  it('has a name that is not blank and has no control characters', async () => {
    const { alice, path } = await team()
    const ask = await browserOf(alice)
    for (const name of ['', '   ', 'a\u0000b', 'a\nb', 'x'.repeat(201)])
      expect((await ask('PATCH', path, { name })).status, JSON.stringify(name)).toBe(400)
    expect(await ask('PATCH', path, { name: 'Example Hosting' })).toMatchObject({
      status: 200,
      data: { name: 'Example Hosting', isCurrent: true },
    })
  })

  it('answers strangers and members of other workspaces with not_a_member', async () => {
    const { alice, path } = await team()
    const mallory = await addPerson('Mallory')
    const ask = await browserOf(mallory)
    const requests: [string, string, object?][] = [
      ['GET', `${path}/members`],
      ['GET', `${path}/invitations`],
      ['GET', `${path}/export`],
      ['PATCH', path, { name: 'Mine' }],
      ['DELETE', path, { name: 'Alice' }],
      ['POST', `${path}/invitations`, { role: 'member' }],
      ['PATCH', `${path}/members/${mallory.id}`, { role: 'owner' }],
      ['PATCH', `${path}/members/${alice.id}`, { role: 'read-only' }],
      ['DELETE', `${path}/members/${alice.id}`],
    ]
    for (const [method, where, body] of requests) {
      expect(await ask(method, where, body), `${method} ${where}`).toMatchObject({
        status: 403,
        code: 'not_a_member',
      })
      // The path counts, not a header that names the caller’s own workspace.
      expect((await ask(method, where, body, mallory.id)).code).toBe('not_a_member')
    }
    expect(await ask('POST', `${path}/restore`)).toMatchObject({ status: 404 })
    const members = await membersOf(await browserOf(alice), path)
    expect(members.map(({ accountId }) => accountId)).toEqual([alice.id])
  })
})

describe('roles', () => {
  it('let only admins and owners change members, and members read them', async () => {
    const { alice, people, path } = await team({ Bob: 'member', Eve: 'read-only', Ann: 'admin' })
    for (const name of ['Bob', 'Eve']) {
      const ask = await browserOf(people[name] as Person)
      expect(await membersOf(ask, path)).toHaveLength(4)
      for (const [method, where, body] of [
        ['PATCH', `${path}/members/${people[name]?.id}`, { role: 'admin' }],
        ['DELETE', `${path}/members/${people['Ann']?.id}`],
        ['DELETE', `${path}/members/${alice.id}`],
        ['GET', `${path}/invitations`],
        ['POST', `${path}/invitations`, { role: 'member' }],
        ['PATCH', path, { name: 'Mine' }],
        ['DELETE', path, { name: 'Alice' }],
        ['GET', `${path}/export`],
      ] as [string, string, object?][])
        expect((await ask(method, where, body)).code, `${name} ${method} ${where}`).toBe(
          'forbidden',
        )
    }
  })

  it('do not let admins make owners, touch owners, or act as owners', async () => {
    const { alice, people, path } = await team({ Ann: 'admin', Bob: 'member' })
    const ann = await browserOf(people['Ann'] as Person)
    for (const [method, where, body] of [
      ['PATCH', `${path}/members/${people['Ann']?.id}`, { role: 'owner' }],
      ['PATCH', `${path}/members/${people['Bob']?.id}`, { role: 'owner' }],
      ['PATCH', `${path}/members/${alice.id}`, { role: 'member' }],
      ['DELETE', `${path}/members/${alice.id}`],
      ['POST', `${path}/invitations`, { role: 'owner' }],
      ['DELETE', path, { name: 'Alice' }],
      ['GET', `${path}/export`],
    ] as [string, string, object?][])
      expect((await ann(method, where, body)).code, `${method} ${where}`).toBe('forbidden')
    expect(
      await ann('PATCH', `${path}/members/${people['Bob']?.id}`, { role: 'admin' }),
    ).toMatchObject({ status: 200, data: { role: 'admin', isYou: false } })
  })

  it('do not let an admin revoke or replace an invitation to an owner', async () => {
    const { alice, people, path } = await team({ Ann: 'admin' })
    const owner = await browserOf(alice)
    const made = await owner('POST', `${path}/invitations`, {
      email: 'boss@people.test',
      role: 'owner',
    })
    const { id } = made.data as { id: string }
    const ann = await browserOf(people['Ann'] as Person)
    expect((await ann('DELETE', `${path}/invitations/${id}`)).code).toBe('forbidden')
    const replaced = { email: 'boss@people.test', role: 'read-only' }
    expect((await ann('POST', `${path}/invitations`, replaced)).code).toBe('forbidden')
    expect((await owner('GET', `${path}/invitations`)).data).toHaveLength(1)
  })

  it('need a recent sign-in to change, and never an API token', async () => {
    const { alice, people, path } = await team({ Bob: 'member' })
    const where = `${path}/members/${people['Bob']?.id}`
    const byToken = await portreeve.request(where, {
      token: alice.token,
      method: 'PATCH',
      body: { role: 'owner' },
    })
    expect(byToken.status).toBe(403)
    const ask = await browserOf(alice)
    await sql`update session set authenticated_at = now() - interval '11 minutes'
      where account_id = ${alice.id}`.execute(database.db)
    for (const [method, to, body] of [
      ['PATCH', where, { role: 'admin' }],
      ['DELETE', where],
      ['POST', `${path}/invitations`, { role: 'member' }],
      ['DELETE', path, { name: 'Alice' }],
      ['GET', `${path}/export`],
    ] as [string, string, object?][])
      expect((await ask(method, to, body)).code, `${method} ${to}`).toBe('reauthenticate')
  })

  it('change at once for tokens in every instance, and are announced by email', async () => {
    const { alice, people, path } = await team({ Bob: 'admin' })
    const bob = people['Bob'] as Person
    const place = { accountId: bob.id, workspaceId: alice.id }
    const { token } = await issueToken(database.db, place, 'tests')
    const rename = (instance: AccountsTest) =>
      instance.request(path, { token, method: 'PATCH', body: { name: 'By a token' } })
    for (const instance of [portreeve, other]) expect((await rename(instance)).status).toBe(200)
    const ask = await browserOf(alice)
    await ask('PATCH', `${path}/members/${bob.id}`, { role: 'read-only' })
    for (const instance of [portreeve, other])
      await expect.poll(async () => (await rename(instance)).status).toBe(403)
    // One of the test before may still arrive.
    const mails = () => sink.mails.filter(({ to }) => to?.[0]?.address === bob.email)
    await expect.poll(() => mails().length).toBe(1)
    expect(mails()[0]?.text).toContain('read-only')
    // Nothing changed: no email.
    await ask('PATCH', `${path}/members/${bob.id}`, { role: 'read-only' })
    await ask('DELETE', `${path}/members/${bob.id}`)
    for (const instance of [portreeve, other])
      await expect
        .poll(async () => (await instance.request('/api/v1/account', { token })).status)
        .toBe(401)
    await expect.poll(() => mails().length).toBe(2)
  })
})

describe('members', () => {
  it('leave, and lose tokens and invitations of this workspace only', async () => {
    const { alice, people, path } = await team({ Ann: 'admin' })
    const ann = people['Ann'] as Person
    const ask = await browserOf(ann)
    const { token } = await issueToken(
      database.db,
      { accountId: ann.id, workspaceId: alice.id },
      'tests',
    )
    await ask('POST', `${path}/invitations`, { role: 'member' })
    expect((await ask('DELETE', `${path}/members/${ann.id}`)).status).toBe(200)
    await expect
      .poll(async () => (await portreeve.request('/api/v1/account', { token })).status)
      .toBe(401)
    expect((await portreeve.request('/api/v1/account', { token: ann.token })).status).toBe(200)
    const owner = await browserOf(alice)
    expect((await owner('GET', `${path}/invitations`)).data).toEqual([])
    expect(await membersOf(owner, path)).toHaveLength(1)
    expect((await ask('GET', `${path}/members`)).code).toBe('not_a_member')
  })

  it('cannot leave or step down as the last owner, also beside a disabled one', async () => {
    const { alice, people, path } = await team({ Olga: 'owner' })
    const olga = people['Olga'] as Person
    await database.db
      .updateTable('account')
      .set({ disabledAt: new Date() })
      .where('id', '=', olga.id)
      .execute()
    const ask = await browserOf(alice)
    expect((await ask('DELETE', `${path}/members/${alice.id}`)).code).toBe('conflict')
    const down = { role: 'admin' }
    expect((await ask('PATCH', `${path}/members/${alice.id}`, down)).code).toBe('conflict')
  })

  it('get a workspace of their own when they leave their last one', async () => {
    const { alice, people, path } = await team({ Olga: 'owner' })
    const ask = await browserOf(alice)
    expect((await ask('DELETE', `${path}/members/${alice.id}`)).status).toBe(200)
    const [fresh, ...rest] = await workspacesOf(ask)
    expect(rest).toEqual([])
    expect(fresh).toMatchObject({ role: 'owner', members: 1, plan: 'pro', isCurrent: true })
    expect(fresh?.id).not.toBe(alice.id)
    expect(await membersOf(await browserOf(people['Olga'] as Person), path)).toHaveLength(1)
  })

  it('keep an owner when both owners leave at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const { alice, people } = await team({ Olga: 'owner' })
      const both = [alice, people['Olga'] as Person]
      const outcomes = await Promise.allSettled(
        both.map(({ id }, n) =>
          removeMember(
            (n === 0 ? portreeve : other).db,
            { workspaceId: alice.id, accountId: id },
            { accountId: id },
          ),
        ),
      )
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      const owners = await database.db
        .selectFrom('membership')
        .select('role')
        .where('workspaceId', '=', alice.id)
        .execute()
      expect(owners).toEqual([{ role: 'owner' }])
    }
  })

  it('keep an owner when two owners demote each other', async () => {
    const { alice, people } = await team({ Olga: 'owner' })
    const olga = people['Olga'] as Person
    const place = { workspaceId: alice.id }
    const outcomes = await Promise.allSettled([
      changeRole(portreeve.db, { ...place, accountId: olga.id }, 'member', { accountId: alice.id }),
      changeRole(other.db, { ...place, accountId: alice.id }, 'member', { accountId: olga.id }),
    ])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it('keep a workspace when removed from all of them at the same moment', async () => {
    const bob = await addPerson('Bob')
    const owners = [await addPerson('One'), await addPerson('Two'), await addPerson('Three')]
    for (const { id } of owners)
      await insertMembership(database.db, { workspaceId: id, accountId: bob.id, role: 'member' })
    await insertMembership(database.db, {
      workspaceId: bob.id,
      accountId: owners[0]?.id as string,
      role: 'owner',
    })
    const actors = [...owners, owners[0] as Person]
    await Promise.all(
      [...owners.map(({ id }) => id), bob.id].map((workspaceId, n) =>
        removeMember(
          (n % 2 ? portreeve : other).db,
          { workspaceId, accountId: bob.id },
          { accountId: (actors[n] as Person).id },
        ),
      ),
    )
    expect(await workspacesOf(await browserOf(bob))).toHaveLength(1)
  })

  it('are removed with their accounts, unless they are the only owner', async () => {
    const { alice, people, path } = await team({ Olga: 'owner', Bob: 'member' })
    await removeAccount(database.db, (people['Olga'] as Person).id)
    const ask = await browserOf(alice)
    expect(await membersOf(ask, path)).toHaveLength(2)
    await expect(removeAccount(database.db, alice.id)).rejects.toThrow('only owner')
    const { name } = (await workspacesOf(ask))[0] as Workspace
    await ask('DELETE', path, { name })
    // A deleted workspace needs no owner.
    await removeAccount(database.db, alice.id)
  })
})

describe('a deleted workspace', () => {
  async function deleted() {
    const { alice, people, path } = await team({ Bob: 'member' })
    const bob = people['Bob'] as Person
    const { token } = await issueToken(
      database.db,
      { accountId: bob.id, workspaceId: alice.id },
      'tests',
    )
    const ask = await browserOf(alice)
    const [{ name } = { name: '' }] = await workspacesOf(ask)
    return { alice, bob, token, ask, name, path }
  }

  it('needs its name and an owner', async () => {
    const { bob, ask, path } = await deleted()
    expect((await ask('DELETE', path, { name: 'Another' })).code).toBe('invalid_request')
    expect((await (await browserOf(bob))('DELETE', path, { name: 'Alice' })).code).toBe('forbidden')
    expect(await membersOf(ask, path)).toHaveLength(2)
  })

  it('is closed at once in every instance, and restored by an owner', async () => {
    const { alice, bob, token, ask, name, path } = await deleted()
    for (const instance of [portreeve, other])
      expect((await instance.request('/api/v1/account', { token })).status).toBe(200)
    const answer = await ask('DELETE', path, { name })
    const { deleteAfter } = answer.data as { deleteAfter: string }
    expect(Date.parse(deleteAfter) - Date.now()).toBeGreaterThan(6.9 * 86_400_000)
    for (const instance of [portreeve, other])
      await expect
        .poll(async () => (await instance.request('/api/v1/account', { token })).status)
        .toBe(401)
    expect((await ask('GET', `${path}/members`)).code).toBe('not_a_member')
    const list = await workspacesOf(ask)
    expect(list.map((one) => [one.id === alice.id, one.deleteAfter, one.isCurrent])).toEqual([
      [true, deleteAfter, false],
      [false, null, true],
    ])
    const asBob = await browserOf(bob)
    expect((await workspacesOf(asBob)).map(({ id }) => id)).toEqual([bob.id])
    expect((await asBob('POST', `${path}/restore`)).code).toBe('forbidden')
    expect((await ask('POST', `${path}/restore`)).status).toBe(200)
    expect((await ask('POST', `${path}/restore`)).code).toBe('conflict')
    await expect
      .poll(async () => (await other.request('/api/v1/account', { token })).status)
      .toBe(200)
    expect(await membersOf(ask, path)).toHaveLength(2)
  })

  it('is deleted with its data after 7 days, and only then', async () => {
    const { alice, bob, ask, name, path } = await deleted()
    const endpoint = await database.db
      .insertInto('webhookEndpoint')
      .values({ workspaceId: alice.id, token: alice.id.replaceAll('-', '').slice(-10) })
      .returning('id')
      .executeTakeFirstOrThrow()
    await sql`insert into webhook_request
      (id, endpoint_id, method, path, query, headers, ip, body, body_size, received_at, duration_ms, http_version, preflight, aborted)
      select gen_random_uuid(), ${endpoint.id}::uuid, 'POST', '', '', '[]', '192.0.2.1', '', 0, now(), 0, '1.1', false, false
      from generate_series(1, 450)`.execute(database.db)
    await ask('DELETE', path, { name })
    const run = (now?: Date) =>
      deleteExpiredWorkspaces(database.db, {
        signal: new AbortController().signal,
        log: createLog('silent'),
        ...(now && { now }),
      })
    await run()
    const requests = () =>
      database.db
        .selectFrom('webhookRequest')
        .select('id')
        .where('endpointId', '=', endpoint.id)
        .execute()
    expect(await requests()).toHaveLength(450)
    const week = new Date(Date.now() + 7 * 86_400_000 + 6 * 60_000)
    // Other tests left deleted workspaces, too.
    await run(week)
    expect(await requests()).toEqual([])
    const left = await database.db
      .selectFrom('workspace')
      .select('id')
      .where('id', 'in', [alice.id, bob.id])
      .execute()
    expect(left).toEqual([{ id: bob.id }])
    expect((await ask('POST', `${path}/restore`)).status).toBe(404)
  })

  it('cannot be restored after 7 days, even before its data is deleted', async () => {
    const { alice, ask, name, path } = await deleted()
    await ask('DELETE', path, { name })
    await sql`update workspace set delete_after = now() - interval '1 second' where id = ${alice.id}`.execute(
      database.db,
    )
    expect((await ask('POST', `${path}/restore`)).status).toBe(404)
  })

  it('is one of a few: an account cannot multiply its storage with them', async () => {
    const ask = await browserOf(await addPerson('Free'))
    const statuses: number[] = []
    for (let n = 0; n < 7; n++) {
      const current = (await workspacesOf(ask)).find(({ isCurrent }) => isCurrent) as Workspace
      const { status } = await ask('DELETE', `/api/v1/workspaces/${current.id}`, {
        name: current.name,
      })
      statuses.push(status)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 409, 409])
  })
})

describe('the data of a workspace', () => {
  it('is exported for owners, without other workspaces and accounts', async () => {
    const { alice, people, path } = await team({ Bob: 'member' })
    const cookie = await portreeve.signIn(alice)
    const response = await portreeve.request(`${path}/export`, { cookie })
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    const text = await response.text()
    const lines = text.trimEnd().split('\n')
    const tables = lines.map((line) => (JSON.parse(line) as { table: string }).table)
    expect(new Set(tables)).toEqual(new Set(['workspace', 'membership', 'api_token']))
    expect(text).not.toContain(people['Bob']?.email)
    expect(text).not.toContain('hash')
  })
})
