import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'
import { enabled, IP, startLists } from '../servers/blacklists.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'

describe('the endpoint', () => {
  let portreeve: TestService
  let server: Rbldnsd
  beforeAll(async () => {
    server = await startLists({ 'zen.spamhaus.org': { listed: { [IP]: '127.0.0.2 x' } } })
    portreeve = await startTestService({ DNSBL_SERVERS: `127.0.0.1:${server.port}` })
  })
  afterAll(async () => {
    await portreeve.stop()
    await server.stop()
  })

  it('returns a result to Alice, and 401 to Charlie without an account', async () => {
    const alice = await portreeve.addPerson('Alice')
    const path = `/api/v1/blacklist-check?ip=${IP}`
    const answer = await portreeve.request(path, { token: alice.token })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      success: true,
      data: {
        ip: IP,
        totalChecked: enabled.length,
        listedCount: 1,
        blacklists: { length: enabled.length },
      },
    })
    const stranger = await portreeve.request(path)
    expect(stranger.status).toBe(401)
    expect(await stranger.json()).toMatchObject({ success: false, code: 'unauthenticated' })
  })

  it('rejects an address that is not public with 400', async () => {
    const bob = await portreeve.addPerson('Bob')
    const answer = await portreeve.request('/api/v1/blacklist-check?ip=192.168.1.1', {
      token: bob.token,
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'ip' }],
    })
  })
})
