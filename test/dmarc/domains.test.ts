import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { mapResolver } from '../resolver.ts'
import type { Records } from '../servers/dns-records.ts'
import { REPORT_DOMAIN, startDmarc, type Person, type DmarcTest } from './module.ts'

describe('DMARC domains', () => {
  let portreeve: DmarcTest
  let alice: Person
  let charlie: Person
  const records: Records = {}
  const failures: Parameters<typeof mapResolver>[1] = {}

  beforeAll(async () => {
    portreeve = await startDmarc({ resolver: mapResolver(records, failures) })
  })
  afterAll(() => portreeve.stop())
  beforeEach(async () => {
    alice = await portreeve.addPerson('Alice')
    charlie = await portreeve.addPerson('Charlie')
  })
  afterEach(() => {
    for (const name of Object.keys(records)) delete records[name]
    for (const name of Object.keys(failures)) delete failures[name]
  })

  const verify = async (id: string) =>
    (await portreeve.ask(`domains/${id}/verify`, { ...alice, method: 'POST' })).body.data

  it('adds a domain as users type it, with its own report address', async () => {
    const { status, body } = await portreeve.ask('domains', {
      ...alice,
      body: { domain: 'MÜNCHEN.example.' },
    })
    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      domain: 'xn--mnchen-3ya.example',
      verified: false,
      totalReports: 0,
      lastReportAt: null,
      reportEmail: expect.stringMatching(/^r[a-z2-7]{17}@reports\.portreeve\.test$/),
      verification: { name: '_portreeve-challenge.xn--mnchen-3ya.example', type: 'TXT' },
    })
    expect(body.data.record).toBe(`v=DMARC1; p=none; rua=mailto:${body.data.reportEmail}`)
    expect((await portreeve.ask('domains', alice)).body.data).toMatchObject([{ id: body.data.id }])
  })

  it('are listed oldest first, all of them or the first', async () => {
    for (const domain of ['one.example', 'two.example'])
      await portreeve.ask('domains', { ...alice, body: { domain } })
    const namesOf = async (path: string) => {
      const { data } = (await portreeve.ask(path, alice)).body as unknown as {
        data: { domain: string }[]
      }
      return data.map(({ domain }) => domain)
    }
    expect(await namesOf('domains')).toEqual(['one.example', 'two.example'])
    expect(await namesOf('domains?limit=1')).toEqual(['one.example'])
    expect((await portreeve.ask('domains?limit=0', alice)).status).toBe(400)
  })

  it('rejects invalid domains, and the same domain twice', async () => {
    for (const domain of [
      '192.0.2.1',
      'localhost',
      'co.uk',
      '_dmarc.example.com',
      'a b',
      'http://example.com/',
    ]) {
      const { status, body } = await portreeve.ask('domains', { ...alice, body: { domain } })
      expect([status, body.code], domain).toEqual([400, 'invalid_request'])
    }
    await portreeve.addDomain(alice.token)
    expect(
      (await portreeve.ask('domains', { ...alice, body: { domain: 'Example.Test' } })).status,
    ).toBe(409)
  })

  it('adds the report address to the current record and changes nothing else', async () => {
    records['_dmarc.example.test TXT'] = [
      'v=DMARC1; p=reject; adkim=s; rua=mailto:me@example.test; pct=100',
    ]
    const { record, reportEmail } = await portreeve.addDomain(alice.token)
    expect(record).toBe(
      `v=DMARC1; p=reject; adkim=s; rua=mailto:me@example.test,mailto:${reportEmail}; pct=100`,
    )
  })

  it('does not weaken the policy that a subdomain inherits', async () => {
    records['_dmarc.example.test TXT'] = ['v=DMARC1; p=reject; sp=quarantine']
    const { record, reportEmail } = await portreeve.addDomain(alice.token, 'news.example.test')
    expect(record).toBe(`v=DMARC1; p=quarantine; rua=mailto:${reportEmail}`)
  })

  it('is verified by its TXT challenge', async () => {
    const { id, verification } = await portreeve.addDomain(alice.token)
    const before = await verify(id)
    expect(before).toMatchObject({
      verified: false,
      problem: expect.stringContaining('_portreeve-challenge.example.test'),
    })
    records['_portreeve-challenge.example.test TXT'] = ['something else', verification.value]
    expect(await verify(id)).toMatchObject({ verified: true, verifiedBy: 'txt', problem: null })
    expect((await portreeve.ask('domains', alice)).body.data).toMatchObject([{ verified: true }])
  })

  it('is verified by its TXT challenge in quotes that a control panel added', async () => {
    const { id, verification } = await portreeve.addDomain(alice.token)
    records['_portreeve-challenge.example.test TXT'] = [`"${verification.value}" `]
    expect(await verify(id)).toMatchObject({ verified: true, verifiedBy: 'txt' })
    records['_portreeve-challenge.example.test TXT'] = [`${verification.value}0`]
    expect((await verify(id)).problem).toContain('has no TXT record')
  })

  it('is verified by its own rua, and by that of its parent domain', async () => {
    const own = await portreeve.addDomain(alice.token)
    const sub = await portreeve.addDomain(alice.token, 'news.example.test')
    records['_dmarc.example.test TXT'] = [
      `v=DMARC1; p=none; rua=mailto:${own.reportEmail},mailto:${sub.reportEmail}`,
    ]
    for (const { id } of [own, sub]) {
      expect(await verify(id)).toMatchObject({ verified: true, verifiedBy: 'rua' })
    }
    expect(await verify(own.id)).toMatchObject({ dns: { configured: true } })
  })

  it('is not verified by the address of another account', async () => {
    const mine = await portreeve.addDomain(alice.token)
    const theirs = await portreeve.addDomain(charlie.token)
    records['_dmarc.example.test TXT'] = [`v=DMARC1; p=none; rua=mailto:${theirs.reportEmail}`]
    expect(await verify(mine.id)).toMatchObject({ verified: false })
  })

  it('stays verified while the name servers do not respond, and for a week without proof', async () => {
    const { id, verification } = await portreeve.addDomain(alice.token)
    records['_portreeve-challenge.example.test TXT'] = [verification.value]
    await verify(id)
    failures['*'] = 'SERVFAIL'
    expect(await verify(id)).toMatchObject({
      verified: true,
      problem: expect.stringContaining('did not respond'),
    })
    delete failures['*']
    delete records['_portreeve-challenge.example.test TXT']
    expect(await verify(id)).toMatchObject({ verified: true })
    await portreeve.pool.query(
      "update dmarc_domain set unproven_since = now() - interval '8 days' where id = $1",
      [id],
    )
    expect(await verify(id)).toMatchObject({ verified: false, verifiedBy: null })
  })

  it('checks the proofs daily', async () => {
    const { id, verification } = await portreeve.addDomain(alice.token)
    records['_portreeve-challenge.example.test TXT'] = [verification.value]
    await portreeve.run('dmarc.verify')
    await vi.waitFor(async () => {
      expect((await portreeve.ask(`domains/${id}`, alice)).body.data).toMatchObject({
        verified: true,
      })
    })
  })

  it('shows the operator’s consent record, and whether it is published', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    const destination = async () =>
      (await portreeve.ask(`domains/${id}`, alice)).body.data.dns.destination
    const name = `example.test._report._dmarc.${REPORT_DOMAIN}`
    expect(await destination()).toEqual({
      required: true,
      name,
      expected: 'v=DMARC1;',
      found: null,
      authorized: false,
    })
    records[`*._report._dmarc.${REPORT_DOMAIN} TXT`] = ['v=DMARC1;']
    expect(await destination()).toMatchObject({ found: 'v=DMARC1;', authorized: true })
    failures['*'] = 'TIMEOUT'
    expect(await destination()).toMatchObject({ authorized: null })
  })

  it('hides domains from other accounts, and requires an account', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    expect((await portreeve.ask('domains', charlie)).body.data).toEqual([])
    for (const [path, method] of [
      [`domains/${id}`, 'GET'],
      [`domains/${id}`, 'DELETE'],
      [`domains/${id}/verify`, 'POST'],
    ]) {
      expect((await portreeve.ask(path ?? '', { ...charlie, method: method ?? '' })).status).toBe(
        404,
      )
      expect((await portreeve.ask(path ?? '', { method: method ?? '' })).status).toBe(401)
    }
    expect((await portreeve.ask('domains', alice)).body.data).toHaveLength(1)
  })

  it('is deleted together with its reports', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    expect((await portreeve.ask(`domains/${id}`, { ...alice, method: 'DELETE' })).body).toEqual({
      success: true,
    })
    expect((await portreeve.ask(`domains/${id}/reports`, alice)).status).toBe(404)
    expect((await portreeve.ask(`domains/${id}`, { ...alice, method: 'DELETE' })).status).toBe(404)
  })
})
