import { expect, vi } from 'vitest'
import { writeReceipt } from '../../src/diagnostics/sharing/check-receipt.ts'
import { EXAMPLE_REPORT } from '../../src/domains/example.ts'
import type { DomainReport } from '../../src/domains/shapes.ts'
import { aggregate, daysAgo } from '../dmarc/reports.ts'
import { IP } from '../servers/blacklists.ts'
import { SERVICE_KEY, type Person, type TestService } from '../service.ts'
import { NAME } from './mail-place.ts'

/** What is in the address of a screen, by its name there. */
export type Ids = Record<string, string>

type Made = { data: { id: string } }
type Call = <T>(path: string, body?: object) => Promise<T>

/** The API as this person uses it: POST with a body, else GET. */
function callAs(portreeve: TestService, { token }: Person): Call {
  return async (path, body) => {
    const answer = await portreeve.request(path, {
      token,
      ...(body && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    })
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as never
  }
}

/** What the screens of an empty account cannot do without. */
export async function makeEmpty(portreeve: TestService, person: Person): Promise<Ids> {
  const call = callAs(portreeve, person)
  const domain = await call<Made>('/api/v1/dmarc/domains', { domain: 'example.test' })
  const waiting = await call<{ endpoint: { id: string } }>('/api/webhook/endpoints', {})
  return { domain: domain.data.id, waiting: waiting.endpoint.id }
}

/** A shared check of a domain. @returns its token */
export async function share(
  portreeve: TestService,
  person: Person,
  data: DomainReport = EXAMPLE_REPORT,
): Promise<string> {
  const receipt = writeReceipt({ workspaceId: person.id, check: 'domain', data }, SERVICE_KEY, Date.now()) // prettier-ignore
  const shared = await callAs(portreeve, person)<{ data: { token: string } }>(
    '/api/v1/shared-checks',
    { results: [{ check: 'domain', data, receipt }] },
  )
  return shared.data.token
}

/** A week of DMARC reports, two hosts of which one is listed, a watched domain, a delisting. */
export async function makeMail(portreeve: TestService, person: Person): Promise<Ids> {
  const call = callAs(portreeve, person)
  const domain = await call<Made>('/api/v1/dmarc/domains', { domain: 'example.test' })
  for (let day = 1; day <= 7; day++) {
    const form = new FormData()
    const rows = [
      { ip: '192.0.2.10', count: 300 },
      { ip: '203.0.113.7', count: 12, dkim: 'fail' as const, spf: 'fail' as const },
    ]
    form.set('file', new Blob([aggregate({ begin: daysAgo(day), rows })]), `${day}.xml`)
    const init = { method: 'POST', token: person.token, body: form }
    expect((await portreeve.request('/api/v1/dmarc/reports', init)).ok).toBe(true)
  }
  const { data: reports } = await call<{ data: { reports: { id: string }[] } }>(
    `/api/v1/dmarc/domains/${domain.data.id}/reports`,
  )
  const host = await call<Made>('/api/v1/monitoring/hosts', { host: NAME, label: 'outgoing mail' })
  await call('/api/v1/monitoring/hosts', { host: '9.9.9.9', label: 'shop' })
  await call(`/api/v1/monitoring/hosts/${host.data.id}/check`, {})
  // The overview has its cards of domains, whatever of them works.
  await call('/api/v1/domains/example.test/watch', {})
  type Watched = { data: { domains: { checkedAt: string | null }[] } }
  // Its first check changes the overview when it ends.
  await vi.waitFor(async () => {
    const { data } = await call<Watched>('/api/v1/domains?watched=true')
    expect(data.domains).toMatchObject([{ checkedAt: expect.any(String) }])
  }, 60_000)
  const delisting = await call<Made>('/api/v1/delisting', { ip: IP })
  const mailTest = await makeMailTest(call)
  return {
    domain: domain.data.id,
    report: reports.reports[0]?.id ?? '',
    host: host.data.id,
    delisting: delisting.data.id,
    ...mailTest,
    shared: await share(portreeve, person),
    sharedRequest: await shareRequest(portreeve, call),
  }
}

/** A test of a mail from a file, and its link. */
async function makeMailTest(call: Call): Promise<Ids> {
  type Test = { data: { id: string; url: string; mails: { state: string }[] } }
  const message = [
    'Received: from mail.example.test (mail.example.test [192.0.2.10]) by mx.test; Mon, 30 Nov 2026 09:00:00 +0000',
    'From: Shop <shop@example.test>',
    'Subject: Your order',
    '',
    'Thank you for your order.',
  ].join('\r\n')
  const { data } = await call<Test>('/api/v1/mail-tests/raw', { message, domain: 'example.test' })
  await vi.waitFor(async () => {
    const test = await call<Test>(`/api/v1/mail-tests/${data.id}`)
    expect(test.data.mails).toMatchObject([{ state: 'done' }])
  }, 60_000)
  const shared = await call<Test>(`/api/v1/mail-tests/${data.id}/share`, {})
  return { mailTest: data.id, sharedMailTest: shared.data.url.split('/').at(-1) ?? '' }
}

/** @returns the token of the link of a captured request */
async function shareRequest(portreeve: TestService, call: Call): Promise<string> {
  const path = '/api/webhook/endpoints'
  const { endpoint } = await call<{ endpoint: { id: string; token: string } }>(path, {})
  const init = { method: 'POST', body: '{}', headers: { authorization: 'Bearer secret' } }
  await portreeve.request(`/webhooks/${endpoint.token}/orders?page=2`, init)
  const { requests } = await call<{ requests: { id: string }[] }>(`${path}/${endpoint.id}/requests`)
  const shares = `${path}/${endpoint.id}/requests/${requests[0]?.id}/shares`
  const { share: made } = await call<{ share: { url: string } }>(shares, {})
  return made.url.split('/').at(-1) ?? ''
}

/** A webhook endpoint with requests, migrations that reach no server, and a watched network. */
export async function makeTools(portreeve: TestService, person: Person): Promise<Ids> {
  const call = callAs(portreeve, person)
  const signature = { scheme: 'hmac', header: 'X-Signature', secret: 'x' }
  const { endpoint } = await call<{ endpoint: { id: string; token: string } }>(
    '/api/webhook/endpoints',
    { label: 'shop orders', signature },
  )
  const capture = async (
    path: string,
    body: string | URLSearchParams,
    headers: Record<string, string>,
  ) => {
    const init = { method: 'POST', headers, body }
    expect((await portreeve.request(`/webhooks/${endpoint.token}${path}`, init)).ok).toBe(true)
  }
  const json = { 'content-type': 'application/json' }
  for (let order = 0; order < 12; order++)
    await capture(`/orders/${order}`, JSON.stringify({ order }), json)
  await capture('/a/long/path?with=query&and=more', JSON.stringify({ hello: [1, null] }), json)
  await capture('', new URLSearchParams({ name: 'value' }), { 'x-signature': 'no' })

  await call(`/api/webhook/endpoints/${endpoint.id}/rules`, {
    label: 'unavailable twice',
    when: { method: 'POST', 'body/type': { $in: ['order.paid', 'order.refunded'] } },
    answers: [{ status: 503, headers: [['Retry-After', '5']], times: 2 }, { status: 200 }],
    key: 'headers.webhook-id',
  })

  const server = { host: '127.0.0.1', port: 1 }
  const nowhere = { ...server, user: 'somebody.with.a.long.name@example.com', password: 'x' }
  const { migrationId } = await call<{ migrationId: string }>('/api/v1/imap/migrate', {
    source: nowhere,
    destination: nowhere,
    folders: ['INBOX'],
  })
  const { data } = await call<{ data: { batch: { id: string } } }>('/api/v1/imap/batches', {
    name: 'Example Ltd',
    text: 'user,password\none,secret\ntwo,secret\nthree,\n',
    source: server,
    destination: server,
  })
  await call('/api/v1/abuse/tokens', { label: 'mail server' })
  const network = await call<Made>('/api/v1/abuse/watched-networks', { cidr: '45.9.0.0/24' })
  return {
    hook: endpoint.id,
    migration: migrationId,
    batch: data.batch.id,
    network: network.data.id,
  }
}
