import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { issueToken } from '../../src/abuse/tokens/report-tokens.ts'
import { startService, type RunningService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { insertShared } from '../../src/diagnostics/shared-checks.sql.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { SERVICE_KEY, sharedService, type Person, type TestService } from '../service.ts'
import { browserOf } from './sessions.ts'

/** A change reaches the other instances before their caches expire, after 30 seconds. */
const AT_ONCE = { timeout: 20_000, interval: 20 }

let portreeve: TestService
let other: RunningService
let count = 0
beforeAll(async () => {
  portreeve = await sharedService()
  const settings = { DATABASE_URL: portreeve.databaseUrl, SECRET_KEY: SERVICE_KEY }
  const env = { ...settings, PORT: '0', ROLES: 'web', SMTP_LISTEN: 'off', BASE_URL: portreeve.url }
  other = await startService(readConfig(env), createLog('silent'))
})
afterAll(async () => {
  await other.stop()
  await portreeve.stop()
})

const streams: AbortController[] = []
afterEach(() => streams.splice(0).forEach((stream) => stream.abort()))

/** Follows the changes of a workspace in the other instance. */
async function follow(token: string): Promise<{ text: string; hasEnded: boolean }> {
  const stop = new AbortController()
  streams.push(stop)
  const response = await fetch(new URL('/api/v1/events', other.url), {
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  })
  expect(response.status).toBe(200)
  const stream = { text: '', hasEnded: false }
  void (async () => {
    for await (const text of response.body!.pipeThrough(new TextDecoderStream()))
      stream.text += text
    stream.hasEnded = true
  })().catch(() => {})
  return stream
}

/** A request to the other instance. @returns its status and code */
async function askOther(token: string, method = 'GET'): Promise<[number, string?]> {
  const body = method === 'GET' ? {} : { body: '{}' }
  const response = await fetch(new URL('/api/webhook/endpoints', other.url), {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...body,
  })
  const { code } = (await response.json()) as { code?: string }
  return code === undefined ? [response.status] : [response.status, code]
}

/** An owner with a second workspace, which has a member. */
async function addTeam() {
  count += 1
  const owner = await portreeve.addPerson(`Olivia${count}`)
  const workspace = await portreeve.addWorkspace(owner)
  const member: Person = await portreeve.addMember(workspace.id, `Mary${count}`, 'member')
  const ask = await browserOf(portreeve, owner)
  const path = `/api/v1/workspaces/${workspace.id}`
  // Known to the other instance by now.
  expect(await askOther(member.token)).toEqual([200])
  expect(await askOther(workspace.token)).toEqual([200])
  return { owner, workspace, member, ask, path }
}

describe('in every other instance', () => {
  it('a demoted member can read, and no longer change', async () => {
    const { ask, path, member } = await addTeam()
    expect(await askOther(member.token, 'POST')).toEqual([201])
    const changed = await ask(`${path}/members/${member.id}`, 'PATCH', { role: 'read-only' })
    expect(changed.status).toBe(200)
    await expect.poll(() => askOther(member.token, 'POST'), AT_ONCE).toEqual([403, 'forbidden'])
    expect(await askOther(member.token)).toEqual([200])
  })

  it('a removed member has no access, and its event stream ends', async () => {
    const { ask, path, member, workspace } = await addTeam()
    const [members, owners] = [await follow(member.token), await follow(workspace.token)]
    expect((await ask(`${path}/members/${member.id}`, 'DELETE')).status).toBe(200)
    await expect.poll(() => askOther(member.token), AT_ONCE).toEqual([401, 'unauthenticated'])
    await expect.poll(() => members.hasEnded, AT_ONCE).toBe(true)
    // The owner’s stream goes on.
    expect(await askOther(workspace.token)).toEqual([200])
    expect(await askOther(workspace.token, 'POST')).toEqual([201])
    await expect.poll(() => owners.text, AT_ONCE).toContain('"room":"webhooks"')
    expect(owners.hasEnded).toBe(false)
  })

  it('a member who leaves keeps other workspaces', async () => {
    const { path, member } = await addTeam()
    const elsewhere = await portreeve.addWorkspace(member)
    const stream = await follow(member.token)
    const ask = await browserOf(portreeve, member)
    expect((await ask(`${path}/members/${member.id}`, 'DELETE')).status).toBe(200)
    await expect.poll(() => stream.hasEnded, AT_ONCE).toBe(true)
    await expect.poll(() => askOther(member.token), AT_ONCE).toEqual([401, 'unauthenticated'])
    expect(await askOther(elsewhere.token)).toEqual([200])
  })

  it('a deleted workspace has no access, and its streams end', async () => {
    const { ask, path, member, workspace, owner } = await addTeam()
    const ended = [await follow(member.token), await follow(workspace.token)]
    const gone = await ask(path, 'DELETE', { name: 'Second workspace' })
    expect([200, 202]).toContain(gone.status)
    for (const token of [member.token, workspace.token])
      await expect.poll(() => askOther(token), AT_ONCE).toEqual([401, 'unauthenticated'])
    for (const stream of ended) await expect.poll(() => stream.hasEnded, AT_ONCE).toBe(true)
    expect(await askOther(owner.token)).toEqual([200])
  })

  it('the tokens, keys and addresses of a deleted workspace end, and return with it', async () => {
    const { ask, path, workspace } = await addTeam()
    const { db, close } = openDatabase(portreeve.databaseUrl, { max: 1 })
    const place = { workspaceId: workspace.id, label: '' }
    const { token: report } = await issueToken(db, 'report', place)
    const { token: key } = await issueToken(db, 'bouncer', place)
    const shared = `${count}`.padStart(24, 'a')
    const expiresAt = new Date(Date.now() + 3_600_000)
    const row = { workspaceId: workspace.id, target: 'example.test', results: [], expiresAt }
    await insertShared(db, { ...row, token: shared })
    await close()
    const created = await fetch(new URL('/api/webhook/endpoints', portreeve.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${workspace.token}`, 'content-type': 'application/json' },
      body: '{}',
    })
    const { endpoint } = (await created.json()) as { endpoint: { token: string } }
    const basic = `Basic ${Buffer.from(`bouncer:${key}`).toString('base64')}`
    const requests: [what: string, path: string, headers: Record<string, string>][] = [
      ['API token', '/api/webhook/endpoints', { authorization: `Bearer ${workspace.token}` }],
      ['statistics', `/api/v1/abuse/tokens/${report}`, {}],
      ['AbuseIPDB', '/api/v2/check?ipAddress=9.9.9.9', { key: report, accept: 'application/json' }],
      ['CrowdSec agent', '/v1/heartbeat', { authorization: `Bearer ${report}` }],
      ['CrowdSec bouncer', '/v1/decisions/stream?startup=true', { 'x-api-key': key }],
      ['fleet list', '/api/v1/abuse/fleet/list', { 'x-api-key': key }],
      ['MISP', '/api/v1/abuse/fleet/misp/manifest.json', { authorization: basic }],
      ['TAXII', '/taxii2/lists/collections/', { authorization: basic }],
      ['webhook', `/webhooks/${endpoint.token}`, {}],
      ['shared check', `/api/v1/shared-checks/${shared}`, {}],
    ]
    const statuses = async (of = [portreeve.url, other.url]) =>
      Promise.all(
        of.flatMap((url) =>
          requests.map(async ([what, target, headers]) => {
            const response = await fetch(new URL(target, url), { headers })
            const text = await response.text()
            // TAXII shows the shared collection to everyone.
            return [what, what === 'TAXII' ? text.includes('Fleet list') : response.ok]
          }),
        ),
      )
    const all = (isOpen: boolean) => [...requests, ...requests].map(([what]) => [what, isOpen])
    const stopFollowing = new AbortController()
    streams.push(stopFollowing)
    const following = await fetch(new URL('/api/v1/abuse/fleet/events', other.url), {
      headers: { 'x-api-key': key },
      signal: stopFollowing.signal,
    })
    expect(following.status).toBe(200)
    expect(await statuses()).toEqual(all(true))

    const gone = await ask(path, 'DELETE', { name: 'Second workspace' })
    expect([200, 202]).toContain(gone.status)
    await expect.poll(() => statuses(), AT_ONCE).toEqual(all(false))
    // The stream ends by itself.
    for await (const _ of following.body!);
    const reported = await fetch(new URL('/api/v1/abuse/report', other.url), {
      method: 'POST',
      headers: { 'x-report-token': report, 'content-type': 'application/json' },
      body: JSON.stringify({ ip: '9.9.9.9', service: 'ssh' }),
    })
    expect(await reported.json()).toHaveProperty('warning')

    expect((await ask(`${path}/restore`, 'POST')).status).toBe(200)
    await expect.poll(() => statuses(), AT_ONCE).toEqual(all(true))
  })
})
