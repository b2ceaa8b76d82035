import { expect } from 'vitest'
import type { Pool } from 'pg'
import { openDatabase } from '../../../src/store/database.ts'
import { TEST_PATH } from '../../base-path.ts'
import { addAdministrator } from '../../accounts/sessions.ts'
import { startTestService, type Person, type TestService } from '../../service.ts'
import { freePort } from '../../free-port.ts'

/** An installation with its administrator, as the tests of federation use it. */
export type Installation = Awaited<ReturnType<typeof startInstallation>>
export type PeerView = {
  id: string
  url: string
  name: string
  status: string
  fingerprint: string
  offeredFingerprint: string | null
  refusal: string | null
  problem: string | null
  received: number
  withdrawn: number
  ignored: number
  sent: number
}

type Check = {
  listed: boolean
  listingState: string
  score: number
  distinctReporters: number
  peers: { name: string; networks: number; services: string[] }[]
}

/** Starts a whole service on a database of its own. */
export async function startInstallation(settings: Record<string, string> = {}) {
  const port = await freePort()
  const service = await startTestService({
    PORT: String(port),
    TRUSTED_PROXIES: '127.0.0.1',
    SECRET_KEY: `the secret key of the installation at ${port}`,
    ...settings,
  })
  const admin = await addAdministrator(service, 'Alice')
  const { pool, close } = openDatabase(service.databaseUrl, { max: 2 })
  const installation = describeInstallation(
    service,
    admin,
    `http://localhost:${port}${TEST_PATH}`,
    pool,
  )
  const stop = async () => {
    await close()
    await service.stop()
  }
  return { ...installation, stop }
}

function describeInstallation(service: TestService, admin: Person, url: string, pool: Pool) {
  async function call<T>(path: string, init: { method?: string; body?: object } = {}): Promise<T> {
    const answer = await service.request(`/api/v1/abuse/${path}`, {
      token: admin.token,
      method: init.method ?? 'GET',
      ...(init.body && {
        body: JSON.stringify(init.body),
        headers: { 'content-type': 'application/json' },
      }),
    })
    const content = (await answer.json()) as { success: boolean; data: T }
    if (!content.success) throw new Error(`${path}: ${JSON.stringify(content)}`)
    return content.data
  }
  const hurry = () => pool.query('update federation_peer set next_contact_at = now()')
  /** Contacts them without the usual pause. */
  const peers = async () => {
    await hurry()
    return (await call<{ peers: PeerView[] }>('peers')).peers
  }

  return {
    service,
    admin,
    url,
    call,
    peers,
    own: async () => (await call<{ own: { fingerprint: string } }>('peers')).own,
    add: (of: { url: string }) =>
      call<PeerView>('peers', { method: 'POST', body: { url: of.url } }),
    approve: (id: string, fingerprint: string) =>
      call<PeerView>(`peers/${id}/approve`, { method: 'POST', body: { fingerprint } }),
    end: (id: string) => call(`peers/${id}`, { method: 'DELETE' }),
    /** The only peer. */
    peer: async () => (await peers())[0] as PeerView,
    /** Reports an attacker from these addresses. */
    async report(ip: string, from: string[], service_ = 'ssh'): Promise<void> {
      for (const address of from) {
        const answer = await service.request('/api/v1/abuse/report', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
          body: JSON.stringify({ ip, service: service_, count: 60, port: 22 }),
        })
        expect(answer.status).toBe(200)
      }
    },
    async check(ip: string) {
      await hurry()
      return call<Check>(`check?ip=${ip}`)
    },
    /** Grants an appeal for an address that is listed for the purpose. */
    async acquit(ip: string): Promise<void> {
      await pool.query("update abuse_address set state = 'listed' where address = $1", [ip])
      const answer = await service.request('/api/v1/abuse/appeals', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': ip },
        body: JSON.stringify({ ip, reason: 'repaired' }),
      })
      expect(((await answer.json()) as { data: object }).data).toMatchObject({ status: 'granted' })
    },
    hurry,
    query: (text: string, values: unknown[] = []) => pool.query(text, values),
    async count(rows: string): Promise<number> {
      return (await pool.query(`select count(*)::int as n from ${rows}`)).rows[0].n
    },
    async alerts(): Promise<{ kind: string; title: string; text: string }[]> {
      return (await pool.query('select kind, title, text from alert order by id')).rows
    },
  }
}

/** Lets two installations follow each other. */
export async function connect(one: Installation, other: Installation): Promise<void> {
  const added = await one.add(other)
  expect(added).toMatchObject({ status: 'proposed', fingerprint: (await other.own()).fingerprint })
  await one.approve(added.id, added.fingerprint)
  await expect.poll(() => other.peer()).toMatchObject({ status: 'requested' })
  const request = await other.peer()
  expect(request.fingerprint).toBe((await one.own()).fingerprint)
  await other.approve(request.id, request.fingerprint)
  for (const installation of [one, other])
    await expect.poll(async () => (await installation.peer()).status).toBe('active')
}
