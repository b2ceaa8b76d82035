import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OVERVIEW_PATHS } from '../../src/http/overview-paths.ts'
import { startTestService, type TestService } from '../service.ts'

let portreeve: TestService
beforeAll(async () => void (portreeve = await startTestService()))
afterAll(() => portreeve.stop())

async function get(path: string, token: string) {
  const response = await portreeve.request(path, { token })
  return { status: response.status, body: (await response.json()) as { data: object } }
}

describe('the overview of a workspace', () => {
  it('has what each path answers, for an administrator of all', async () => {
    const { token } = await portreeve.addPerson('Adele', { admin: true })
    const { body } = await get('/api/v1/overview', token)
    expect(Object.keys(body.data)).toEqual(OVERVIEW_PATHS)
    // One after the other: together they would need as many database connections, of which a busy
    // machine may have too few.
    const single: Record<string, unknown> = {}
    for (const path of OVERVIEW_PATHS) single[path] = (await get(path, token)).body
    expect(body.data).toEqual(single)
  })

  it('leaves out what the caller may not read', async () => {
    const alice = await portreeve.addPerson('Alice')
    const own = await get('/api/v1/overview', alice.token)
    expect(Object.keys(own.body.data)).toEqual(
      OVERVIEW_PATHS.filter((path) => !/abuse\/(?:appeals|export|candidates)/.test(path)),
    )
    const token = await portreeve.addToken(alice.id, alice.id, {
      scopes: ['workspace:read', 'webhooks:read'],
    })
    const limited = await get('/api/v1/overview', token)
    expect(Object.keys(limited.body.data)).toContain('/api/webhook/endpoints')
    expect(Object.keys(limited.body.data)).not.toContain('/api/v1/dmarc/domains')
  })

  it('is of the workspace that the query names, in all parts', async () => {
    const carol = await portreeve.addPerson('Carol')
    const dave = await portreeve.addMember(carol.id, 'Dave', 'member')
    const { email, password } = dave
    const signedIn = await portreeve.request('/api/auth/sign-in/email', {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: portreeve.url },
      body: JSON.stringify({ email, password }),
    })
    const cookie = signedIn.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ')
    const response = await portreeve.request(`/api/v1/overview?workspace=${carol.id}`, {
      headers: { cookie },
    })
    type Listed = { data: { id: string; isCurrent: boolean }[] }
    const { data } = (await response.json()) as { data: Record<string, Listed> }
    const current = data['/api/v1/workspaces']?.data.filter(({ isCurrent }) => isCurrent)
    expect(current?.map(({ id }) => id)).toEqual([carol.id])
  })

  it('is closed to everyone else', async () => {
    expect((await portreeve.request('/api/v1/overview')).status).toBe(401)
    const alice = await portreeve.addPerson('Another Alice')
    const token = await portreeve.addToken(alice.id, alice.id, { scopes: ['dmarc:read'] })
    expect((await get('/api/v1/overview', token)).status).toBe(403)
  })
})
