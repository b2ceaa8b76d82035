import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DomainLine, DomainReport } from '../../src/domains/shapes.ts'
import { isPublished } from '../../src/domains/record-state.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { startAllLists } from './check-with.ts'

let dns: DnsServer
let lists: Rbldnsd
let portreeve: TestService
let alice: Person
let bob: Person
beforeAll(async () => {
  lists = await startAllLists()
  dns = await startDns({
    records: {
      'example.com NS': ['ns1.example.com'],
      'ns1.example.com A': ['127.0.0.1'],
      'example.com MX': ['0 .'],
      'example.com TXT': ['v=spf1 -all'],
      '_dmarc.example.com TXT': ['v=DMARC1; p=none'],
    },
    ttl: 300,
  })
  portreeve = await startTestService({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
  })
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
})
afterAll(async () => {
  await portreeve.stop()
  await dns.close()
  await lists.stop()
})

const get = (path: string, token?: string) =>
  portreeve.request(`/api/v1/domains/${path}`, token === undefined ? {} : { token })

type Answer = { data: DomainReport; receipt: string; code?: string }

describe('the domain endpoint', () => {
  it('returns the whole picture with its verdict and fixes to Alice, and 401 to Charlie', async () => {
    const answer = await get('Example.COM.', alice.token)
    expect(answer.status).toBe(200)
    const { data } = (await answer.json()) as Answer
    expect(data).toMatchObject({
      domain: 'example.com',
      verdict: { state: 'warning', exitCode: 1 },
      fixes: [{ name: '_dmarc.example.com', value: expect.stringMatching(/p=reject/) }],
    })
    expect(data.lines).toHaveLength(19)
    for (const path of [
      'example.com',
      'example.com/events',
      'example.com/record?name=example.com&type=TXT',
    ])
      expect((await get(path)).status).toBe(401)
  })

  it('returns 404 for a domain that does not exist, and 400 for what is no domain', async () => {
    for (const path of ['nowhere.test', 'nowhere.test/events']) {
      const answer = await get(path, alice.token)
      expect([answer.status, ((await answer.json()) as Answer).code]).toEqual([404, 'not_found'])
    }
    expect((await get('192.0.2.1', alice.token)).status).toBe(400)
    expect((await get('com', alice.token)).status).toBe(400)
  })

  it('streams each line, then the report that can be shared by its receipt', async () => {
    const answer = await get('example.com/events', alice.token)
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    const events = [...(await answer.text()).matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(
      ([, name, data = '']) => ({ name, data: JSON.parse(data) as unknown }),
    )
    const lines = events.filter(({ name }) => name === 'line').map(({ data }) => data as DomainLine)
    expect(lines).toHaveLength(19)
    expect(events.at(-1)?.name).toBe('report')
    const { data, receipt } = (events.at(-1)?.data ?? {}) as Answer
    expect(data.lines.map(({ name }) => name).toSorted()).toEqual(
      lines.map(({ name }) => name).toSorted(),
    )
    const share = (token: string) =>
      portreeve.request('/api/v1/shared-checks', {
        method: 'POST',
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ results: [{ check: 'domain', data, receipt }] }),
      })
    expect((await share(bob.token)).status).toBe(400)
    const shared = await share(alice.token)
    expect(shared.status).toBe(201)
    const { data: link } = (await shared.json()) as { data: { token: string; target: string } }
    expect(link.target).toBe('example.com')
    const seen = await portreeve.request(`/api/v1/shared-checks/${link.token}`)
    expect(await seen.json()).toMatchObject({ data: { results: [{ check: 'domain', data }] } })
  })

  it('checks up to three domains of an account at once', async () => {
    dns.behaviours['*.slow.com *'] = { delayMs: 700 }
    dns.behaviours['slow.com *'] = { delayMs: 700 }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => get('slow.com', bob.token).then(({ status }) => status)),
    )
    expect(answers.filter((status) => status === 429)).toHaveLength(2)
    delete dns.behaviours['slow.com *']
  })
})

describe('the record endpoint', () => {
  it('rejects a name that is not of the domain', async () => {
    const answer = await get('example.com/record?name=other.test&type=TXT', alice.token)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ details: [{ path: 'name' }] })
  })

  it('shows the copy of the resolver, with the time until it expires', async () => {
    const answer = await get(
      'example.com/record?name=_dmarc.example.com&type=TXT&value=x',
      alice.token,
    )
    const { data } = (await answer.json()) as { data: object }
    expect(data).toMatchObject({
      zone: 'example.com',
      // Name servers are asked on port 53, where nothing listens here.
      servers: [{ server: 'ns1.example.com' }],
      cached: { matches: false, ttl: 300 },
    })
  })
})

describe('a published record', () => {
  it('matches whatever a control panel does to its spaces', () => {
    const wanted = 'v=DMARC1; p=reject; rua=mailto:a@example.com'
    expect(isPublished(['v=DMARC1;p=reject ;  rua=mailto:a@example.com;'], 'TXT', wanted)).toBe(
      true,
    )
    expect(isPublished(['v=DMARC1; p=none; rua=mailto:a@example.com'], 'TXT', wanted)).toBe(false)
  })

  it('does not match beside another one of its kind', () => {
    expect(isPublished(['v=spf1 mx -all', 'v=spf1 -all'], 'TXT', 'v=spf1 mx -all')).toBe(false)
    expect(isPublished(['v=spf1 mx -all', 'verification=1'], 'TXT', 'v=spf1 mx -all')).toBe(true)
  })

  it('is compared by the rules of its type', () => {
    expect(isPublished(['3 1 1 ABCD'.toLowerCase()], 'TLSA', '3 1 1 ABCD')).toBe(true)
    expect(isPublished(['mail.example.com'], 'PTR', 'Mail.Example.com.')).toBe(true)
    expect(isPublished(['mail.example.com'], 'PTR', 'mx.example.com')).toBe(false)
  })
})
