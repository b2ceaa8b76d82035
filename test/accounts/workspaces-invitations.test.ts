import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { acceptInvitation } from '../../src/accounts/workspaces/invitations/invitations.ts'
import { removeMember } from '../../src/accounts/workspaces/members/members.ts'
import { insertMembership } from '../../src/accounts/workspaces/workspaces.sql.ts'
import { removeAccount } from '../../src/accounts/accounts.ts'
import type { Role } from '../../src/http/access.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { ORIGIN, startAccounts, type AccountsTest, type Person } from './module.ts'

type Reply = { status: number; code?: string; error?: string; data?: unknown }
type Issued = { id: string; url: string; isMailed: boolean; email: string | null }

let database: FreshDatabase
let sink: Sink
let portreeve: AccountsTest
let other: AccountsTest
let alice: Person
let path: string
let count = 0

beforeAll(async () => {
  sink = await startSink()
  database = await freshDatabase()
  portreeve = await startAccounts(database.url, { SMTP_URL: sink.url })
  other = await startAccounts(database.url)
})
afterAll(async () => {
  await portreeve.stop()
  await other.stop()
  await database.drop()
  await sink.stop()
})
beforeEach(async () => {
  sink.mails.length = 0
  alice = await addPerson('Alice')
  path = `/api/v1/workspaces/${alice.id}`
})

const addPerson = (name: string) => portreeve.addPerson(`${name}${++count}`)

/** Of the session of each person, which all instances accept. */
const cookies = new Map<string, Promise<string>>()

function cookieOf(person: Person): Promise<string> {
  const cookie = cookies.get(person.id) ?? portreeve.signIn(person)
  cookies.set(person.id, cookie)
  return cookie
}

async function ask(
  person: Person,
  method: string,
  to: string,
  body?: object,
  instance = portreeve,
): Promise<Reply> {
  const cookie = await cookieOf(person)
  const response = await instance.request(to, { method, cookie, ...(body && { body }) })
  return { status: response.status, ...((await response.json()) as object) }
}

/** Invites, as Alice unless told otherwise. @returns the token and the invitation */
async function invite(role: Role = 'member', email?: string, by = alice) {
  const made = await ask(by, 'POST', `${path}/invitations`, { role, ...(email && { email }) })
  expect(made.status).toBe(201)
  const invitation = made.data as Issued
  return { ...invitation, token: invitation.url.split('#')[1] ?? '' }
}

const accept = (person: Person, token: string) =>
  ask(person, 'POST', '/api/v1/invitations/accept', { token })

async function preview(token: string): Promise<Reply> {
  const response = await portreeve.request('/api/v1/invitations/preview', { body: { token } })
  return { status: response.status, ...((await response.json()) as object) }
}

async function rolesIn(workspaceId: string): Promise<Record<string, string>> {
  const rows = await database.db
    .selectFrom('membership')
    .select(['accountId', 'role'])
    .where('workspaceId', '=', workspaceId)
    .execute()
  return Object.fromEntries(rows.map(({ accountId, role }) => [accountId, role]))
}

async function addMember(name: string, role: Role): Promise<Person> {
  const person = await addPerson(name)
  await insertMembership(database.db, { workspaceId: alice.id, accountId: person.id, role })
  return person
}

/** Emails are sent one after the other: those of an earlier test may arrive in this one. */
async function mailTo(email: string): Promise<Sink['mails'][number]> {
  const find = () => sink.mails.find(({ to }) => to?.[0]?.address === email)
  await expect.poll(find).toBeDefined()
  return find() as Sink['mails'][number]
}

describe('an invitation to an address without an account', () => {
  const password = 'a long enough password'
  async function signUp(token: string, more: object = {}) {
    const body = { token, name: 'Bob', password, ...more }
    const response = await portreeve.request('/api/v1/invitations/sign-up', { body })
    const cookie = response.headers
      .getSetCookie()
      .map((one) => one.split(';', 1)[0])
      .join('; ')
    return { status: response.status, cookie, ...((await response.json()) as object) } as Reply & {
      cookie: string
    }
  }
  const verifiedOf = async (email: string) =>
    (
      await database.db
        .selectFrom('account')
        .select('emailVerified')
        .where('email', '=', email)
        .executeTakeFirst()
    )?.emailVerified

  it('creates it on its page, signed in and as a member, once, and records it', async () => {
    const email = `bob${++count}@example.test`
    const { token } = await invite('admin', email)
    expect((await signUp(token, { password: 'short' })).status).toBe(400)
    const both = await Promise.all([signUp(token), signUp(token)])
    // The other one finds the account, or no invitation any more.
    expect(both.filter(({ status }) => status === 201)).toHaveLength(1)
    const { data, cookie } = both.find(({ status }) => status === 201) as (typeof both)[number]
    const { id } = data as { id: string }
    expect((await rolesIn(alice.id))[id]).toBe('admin')
    const own = await portreeve.request('/api/v1/account', { cookie })
    expect(await own.json()).toMatchObject({ data: { email, admin: false, plan: 'free' } })
    const { data: log } = await ask(alice, 'GET', `${path}/audit`)
    expect(JSON.stringify(log)).toContain('Create an account by an invitation')
    expect((await signUp(token)).status).toBe(404)
  })

  it('proves the address by the emailed link only', async () => {
    const [shown, mailed] = [`shown${++count}@example.test`, `mailed${count}@example.test`]
    const { token } = await invite('member', shown)
    expect((await signUp(`${token}.${token}`)).status).toBe(404)
    expect((await signUp(token)).status).toBe(201)
    expect(await verifiedOf(shown)).toBe(false)
    await invite('member', mailed)
    const link = /invitation#(\S+)/.exec((await mailTo(mailed)).text ?? '')?.[1] ?? ''
    expect((await preview(link)).status).toBe(200)
    expect((await signUp(link)).status).toBe(201)
    expect(await verifiedOf(mailed)).toBe(true)
  })

  it('creates none without an address, and none where there is one', async () => {
    const anyone = await invite('member')
    expect((await signUp(anyone.token)).status).toBe(403)
    const bob = await addPerson('Bob')
    const { token } = await invite('member', bob.email)
    const reply = await signUp(token)
    expect(reply).toMatchObject({
      status: 409,
      error: expect.stringContaining('Sign in to accept'),
    })
    // The invitation is kept.
    expect((await preview(token)).status).toBe(200)
  })
})

describe('an invitation to own a workspace', () => {
  const setPlan = ({ id }: Person, plan: string) =>
    database.db.updateTable('account').set({ plan }).where('id', '=', id).execute()
  const ownedBy = async (person: Person) =>
    ((await ask(person, 'GET', '/api/v1/workspaces')).data as { id: string; role: Role }[])
      .filter(({ role }) => role === 'owner')
      .map(({ id }) => id)

  it('takes a place of the plan of the account that accepts it, and is kept where none is left', async () => {
    const bob = await addPerson('Bob')
    const { token } = await invite('owner')
    const rejected = await accept(bob, token)
    expect(rejected).toMatchObject({ status: 409, code: 'conflict' })
    expect(rejected.error).toContain(`With the plan “free”, ${bob.email} can own one workspace.`)
    expect(await rolesIn(alice.id)).toEqual({ [alice.id]: 'owner' })
    await setPlan(bob, 'starter')
    expect((await accept(bob, token)).status).toBe(200)
    expect((await rolesIn(alice.id))[bob.id]).toBe('owner')
    const another = await invite('owner')
    expect((await accept(bob, another.token)).error).toContain('already a member')
  })

  it('ends the loop of an account that leaves each workspace after it has invited another owner', async () => {
    const bob = await addPerson('Bob')
    await setPlan(bob, 'starter')
    const statuses: number[] = []
    for (let round = 0; round < 4; round++) {
      const [own = ''] = await ownedBy(alice)
      path = `/api/v1/workspaces/${own}`
      statuses.push((await accept(bob, (await invite('owner')).token)).status)
      await ask(alice, 'DELETE', `${path}/members/${alice.id}`)
    }
    expect(statuses).toEqual([200, 200, 409, 409])
    expect(await ownedBy(alice)).toHaveLength(1)
    expect(await ownedBy(bob)).toHaveLength(3)
    expect((await ask(bob, 'POST', '/api/v1/workspaces', { name: 'More' })).status).toBe(409)
  })

  it('has the same effect as a change of role', async () => {
    const bob = await addMember('Bob', 'admin')
    const promote = () => ask(alice, 'PATCH', `${path}/members/${bob.id}`, { role: 'owner' })
    expect(await promote()).toMatchObject({ status: 409, code: 'conflict' })
    expect((await rolesIn(alice.id))[bob.id]).toBe('admin')
    await setPlan(bob, 'starter')
    expect((await promote()).status).toBe(200)
  })

  it('is of no use to an account that owns more than its plan allows, which keeps what it owns', async () => {
    const bob = await addMember('Bob', 'owner')
    expect(await ownedBy(bob)).toHaveLength(2)
    const carol = await addPerson('Carol')
    path = `/api/v1/workspaces/${carol.id}`
    expect((await accept(bob, (await invite('owner', undefined, carol)).token)).status).toBe(409)
    expect((await accept(bob, (await invite('admin', undefined, carol)).token)).status).toBe(200)
    expect(await ownedBy(bob)).toHaveLength(2)
  })
})

describe('an invitation by email', () => {
  it('is mailed, shown and accepted by the account with that verified address', async () => {
    const bob = await addPerson('Bob')
    const { token, url, isMailed } = await invite('member', bob.email.toUpperCase())
    expect([url, isMailed]).toEqual([`${ORIGIN}/invitation#${token}`, true])
    const sent = await mailTo(bob.email)
    expect(sent.text).toContain(url)
    expect(sent.html).toContain(`<a href="${url}`)
    expect(sent.html?.match(/<a /g)).toHaveLength(1)
    expect(await preview(token)).toMatchObject({
      status: 200,
      data: { role: 'member', email: bob.email, invitedBy: { email: alice.email } },
    })
    const joined = await accept(bob, token)
    expect(joined).toMatchObject({
      status: 200,
      data: { id: alice.id, role: 'member', members: 2, isCurrent: false },
    })
    expect((await rolesIn(alice.id))[bob.id]).toBe('member')
  })

  it('has no link but its own, whatever the workspace is called', async () => {
    const bob = await addPerson('Bob')
    const rename = (name: string) => ask(alice, 'PATCH', path, { name })
    for (const mark of ['\u202e', '\u200b', '\u2028', '\u2029'])
      expect((await rename(`Verify${mark}now`)).status).toBe(400)
    expect((await rename('Verify now: evil.example/login http://evil。example')).status).toBe(200)
    const { url } = await invite('member', bob.email)
    const { subject = '', text = '' } = await mailTo(bob.email)
    for (const part of [subject, text.replaceAll(url, '')])
      expect(part).not.toMatch(/evil[.。]example/)
    expect(subject).toContain('Verify now: evil. example/login')
    expect((await rename('Alice')).status).toBe(200)
  })

  it('is of no use to another account, also a member of the same service with the link', async () => {
    const [bob, mallory] = [await addPerson('Bob'), await addPerson('Mallory')]
    const { token } = await invite('admin', bob.email)
    expect(await accept(mallory, token)).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await rolesIn(alice.id))[mallory.id]).toBeUndefined()
    expect((await accept(bob, token)).status).toBe(200)
  })

  it('is not accepted with an unverified address', async () => {
    const mallory = await addPerson('Mallory')
    await database.db
      .updateTable('account')
      .set({ emailVerified: false })
      .where('id', '=', mallory.id)
      .execute()
    const { token } = await invite('member', mallory.email)
    const rejected = await accept(mallory, token)
    expect(rejected).toMatchObject({ status: 403, code: 'forbidden' })
    expect(rejected.error).toContain('not verified')
    // A link is for anyone.
    expect((await accept(mallory, (await invite()).token)).status).toBe(200)
  })

  it('is replaced by the next one to the same address', async () => {
    const bob = await addPerson('Bob')
    const first = await invite('admin', bob.email)
    const second = await invite('read-only', bob.email)
    expect((await accept(bob, first.token)).status).toBe(404)
    expect((await accept(bob, second.token)).status).toBe(200)
    expect((await rolesIn(alice.id))[bob.id]).toBe('read-only')
    const again = { role: 'admin', email: bob.email }
    expect((await ask(alice, 'POST', `${path}/invitations`, again)).code).toBe('conflict')
  })

  it('is not mailed without a relay, nor more than five times a day to one address', async () => {
    const body = { role: 'member', email: 'flooded@people.test' }
    const unsent = await ask(alice, 'POST', `${path}/invitations`, body, other)
    expect(unsent.data).toMatchObject({ isMailed: false })
    const mailed: boolean[] = []
    for (let n = 0; n < 7; n++)
      mailed.push((await invite('member', 'flooded@people.test')).isMailed)
    expect(mailed).toEqual([true, true, true, true, true, false, false])
    await invite('member', 'marker@people.test')
    await expect
      .poll(() => sink.mails.some(({ to }) => to?.[0]?.address === 'marker@people.test'))
      .toBe(true)
    expect(sink.mails.filter(({ to }) => to?.[0]?.address?.startsWith('flooded'))).toHaveLength(5)
  })
})

describe('an invitation by link', () => {
  it('is shown once, and stored as a hash', async () => {
    const { token, id } = await invite()
    const list = await ask(alice, 'GET', `${path}/invitations`)
    expect(list.data).toMatchObject([{ id, email: null, role: 'member' }])
    expect(JSON.stringify(list)).not.toContain(token)
    const rows = await sql`select i::text as row from invitation i`.execute(database.db)
    expect(JSON.stringify(rows.rows)).not.toContain(token)
  })

  it('works once: of concurrent requests in two instances, one succeeds', async () => {
    const people = await Promise.all(['Bob', 'Eve', 'Dan', 'Fay'].map((name) => addPerson(name)))
    const { token } = await invite()
    const outcomes = await Promise.allSettled(
      people.map(({ id }, n) =>
        acceptInvitation({ db: (n % 2 ? portreeve : other).db, secretKey: '' }, id, token),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(Object.keys(await rolesIn(alice.id))).toHaveLength(2)
    expect((await accept(people[0] as Person, token)).status).toBe(404)
    expect((await preview(token)).status).toBe(404)
  })

  it('is not used up by programs that open links', async () => {
    const { token } = await invite()
    for (const method of ['GET'])
      for (const to of [
        `/invitation?token=${token}`,
        `/api/v1/invitations/accept?token=${token}`,
        `/api/v1/invitations/preview?token=${token}`,
      ]) {
        const cookie = await portreeve.signIn(await addPerson('Scanner'))
        const response = await portreeve.request(to, { method, cookie })
        expect([404, 405], `${method} ${to}`).toContain(response.status)
      }
    expect((await preview(token)).status).toBe(200)
    expect((await preview(token)).status).toBe(200)
    expect((await accept(await addPerson('Bob'), token)).status).toBe(200)
  })

  it('needs a session, from the own origin', async () => {
    const bob = await addPerson('Bob')
    const { token } = await invite()
    const body = { token }
    const send = (more: object) =>
      portreeve.request('/api/v1/invitations/accept', { body, ...more })
    expect((await send({})).status).toBe(401)
    expect((await send({ token: bob.token })).status).toBe(403)
    const cookie = await portreeve.signIn(bob)
    const headers = { origin: 'https://evil.example' }
    expect((await send({ cookie, headers })).status).toBe(403)
    expect((await rolesIn(alice.id))[bob.id]).toBeUndefined()
  })

  it('neither lowers nor raises the role of a member, and stays valid', async () => {
    const bob = await addMember('Bob', 'read-only')
    const { token } = await invite('admin')
    expect((await accept(bob, token)).code).toBe('conflict')
    expect((await accept(alice, token)).code).toBe('conflict')
    expect(await rolesIn(alice.id)).toEqual({ [alice.id]: 'owner', [bob.id]: 'read-only' })
    expect((await accept(await addPerson('Dan'), token)).status).toBe(200)
  })

  it('is revoked, and expires after 7 days', async () => {
    const bob = await addPerson('Bob')
    const revoked = await invite()
    expect((await ask(alice, 'DELETE', `${path}/invitations/${revoked.id}`)).status).toBe(200)
    expect((await ask(alice, 'DELETE', `${path}/invitations/${revoked.id}`)).status).toBe(404)
    expect((await accept(bob, revoked.token)).status).toBe(404)
    const expired = await invite()
    await sql`update invitation set expires_at = now() where id = ${expired.id}`.execute(
      database.db,
    )
    expect((await accept(bob, expired.token)).status).toBe(404)
    expect((await preview(expired.token)).status).toBe(404)
  })

  it('of another workspace cannot be revoked', async () => {
    const { id, token } = await invite()
    const mallory = await addPerson('Mallory')
    const own = `/api/v1/workspaces/${mallory.id}/invitations/${id}`
    expect((await ask(mallory, 'DELETE', own)).status).toBe(404)
    expect((await ask(mallory, 'DELETE', `${path}/invitations/${id}`)).code).toBe('not_a_member')
    expect((await preview(token)).status).toBe(200)
  })

  it('is one of up to 100', async () => {
    await sql`insert into invitation (workspace_id, role, hash, invited_by, expires_at)
      select ${alice.id}::uuid, 'member', sha256(n::text::bytea || ${alice.id}::bytea), ${alice.id}::uuid, now() + interval '1 day'
      from generate_series(1, 99) n`.execute(database.db)
    const statuses = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const made = await ask(alice, 'POST', `${path}/invitations`, { role: 'member' })
        return made.status
      }),
    )
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409])
  })
})

describe('a member who invites', () => {
  it.each([
    ['is removed', (ann: Person) => ask(alice, 'DELETE', `${path}/members/${ann.id}`)],
    [
      'loses the role',
      (ann: Person) => ask(alice, 'PATCH', `${path}/members/${ann.id}`, { role: 'member' }),
    ],
    [
      'is disabled',
      async ({ id }: Person) =>
        sql`update account set disabled_at = now() where id = ${id}`.execute(database.db),
    ],
    ['is deleted', ({ id }: Person) => removeAccount(database.db, id)],
  ])('leaves no way in when that member %s', async (_when, change) => {
    const ann = await addMember('Ann', 'admin')
    const { token } = await invite('admin', undefined, ann)
    await change(ann)
    expect((await preview(token)).status).toBe(404)
    expect((await accept(await addPerson('Accomplice'), token)).status).toBe(404)
  })

  it('cannot invite owners after becoming an admin', async () => {
    const olga = await addMember('Olga', 'owner')
    const toOwner = await invite('owner', undefined, olga)
    const toMember = await invite('member', undefined, olga)
    await ask(alice, 'PATCH', `${path}/members/${olga.id}`, { role: 'admin' })
    const bob = await addPerson('Bob')
    expect((await accept(bob, toOwner.token)).status).toBe(404)
    expect((await accept(bob, toMember.token)).status).toBe(200)
  })
})

describe('a removed member', () => {
  it('does not come back with an open invitation to the same address', async () => {
    const bob = await addPerson('Bob')
    const addressed = await invite('member', bob.email)
    expect((await accept(bob, (await invite()).token)).status).toBe(200)
    await ask(alice, 'DELETE', `${path}/members/${bob.id}`)
    expect((await accept(bob, addressed.token)).status).toBe(404)
  })

  it('accepts and is removed at the same moment: either order, and never half', async () => {
    for (let round = 0; round < 5; round++) {
      const bob = await addMember('Bob', 'member')
      const { token } = await invite()
      const place = { workspaceId: alice.id, accountId: bob.id }
      const [removal, acceptance] = await Promise.allSettled([
        removeMember(portreeve.db, place, { accountId: alice.id }),
        acceptInvitation({ db: other.db, secretKey: '' }, bob.id, token),
      ])
      expect(removal?.status).toBe('fulfilled')
      const isMember = bob.id in (await rolesIn(alice.id))
      expect(isMember).toBe(acceptance?.status === 'fulfilled')
      // An acceptance that failed has not used up the invitation.
      expect((await preview(token)).status).toBe(isMember ? 404 : 200)
    }
  })
})

describe('a deleted workspace', () => {
  it('is joined by nobody', async () => {
    const bob = await addPerson('Bob')
    const { token } = await invite()
    const { name } = await database.db
      .selectFrom('workspace')
      .select('name')
      .where('id', '=', alice.id)
      .executeTakeFirstOrThrow()
    expect((await ask(alice, 'DELETE', path, { name })).status).toBe(200)
    expect((await preview(token)).status).toBe(404)
    expect((await accept(bob, token)).status).toBe(404)
  })
})
