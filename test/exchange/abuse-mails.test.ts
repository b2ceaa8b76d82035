import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOptOutToken, readOptOutToken } from '../../src/exchange/abuse-mails/opt-out.ts'
import { mailReports, type AbuseMailDeps } from '../../src/exchange/abuse-mails/send-mails.ts'
import { createLog } from '../../src/log.ts'
import { createGuardedFetch } from '../../src/net/http/guarded-fetch.ts'
import { parseAbuseContact } from '../../src/protocols/abuse-contact.ts'
import { loadStableKey } from '../../src/store/key-rotation.ts'
import { openDatabase } from '../../src/store/database.ts'
import { mapResolver } from '../resolver.ts'
import { itAlone } from '../scaled/alone.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { addAdministrator } from '../accounts/sessions.ts'
import { SERVICE_KEY, startTestService, type Person, type TestService } from '../service.ts'
import { inLiveWorkspaces } from '../jobs/context.ts'

const alone = itAlone('needs another origin of the registry')

/** As ARIN and RIPE nest the abuse contact. */
const network = (start: string, end: string, email: string | null) => ({
  objectClassName: 'ip network',
  startAddress: start,
  endAddress: end,
  name: 'EXAMPLE-NET',
  entities: [
    {
      roles: ['registrant'],
      vcardArray: ['vcard', [['email', {}, 'text', 'office@example.net']]],
      entities: [
        { roles: ['abuse'], vcardArray: ['vcard', email ? [['email', {}, 'text', email]] : []] },
      ],
    },
  ],
})

describe('the abuse contact of a network', () => {
  it('is found where registries have it, and nowhere else', () => {
    const read = (content: object) => parseAbuseContact(JSON.stringify(content))
    expect(read(network('9.0.0.0', '9.0.0.255', 'Abuse@Example.net'))).toEqual({ network: '9.0.0.0 - 9.0.0.255 (EXAMPLE-NET)', email: 'abuse@example.net' }) // prettier-ignore
    expect(read(network('9.0.0.0', '9.0.0.255', null))?.email).toBeNull()
    expect(read(network('9.0.0.0', '9.0.0.255', 'a@b.net\r\nBcc: all@b.net'))?.email).toBeNull()
    expect(read({ objectClassName: 'domain' })).toBeNull()
    expect(parseAbuseContact('<html>')).toBeNull()
  })

  it('opts out with a token that nobody else can make', () => {
    const token = createOptOutToken('key', 'abuse@example.net')
    expect(readOptOutToken('key', token)).toBe('abuse@example.net')
    expect([readOptOutToken('other', token), readOptOutToken('key', ''), readOptOutToken('key', 'x'.repeat(60))]).toEqual([null, null, null]) // prettier-ignore
  })
})

let registry: Server
/** Answers of the registry by address: a status, or a network. */
const answers = new Map<string, number | object>()
const lookups: string[] = []
let sink: Sink
let portreeve: TestService
let database: ReturnType<typeof openDatabase>
let deps: AbuseMailDeps
let admin: Person
let alice: Person
let charlie: Person
let token: string

beforeAll(async () => {
  registry = createServer((request, response) => {
    const path = request.url ?? ''
    const address = path.split('/').at(-1) ?? ''
    // ARIN redirects to the registry of the address.
    if (path.startsWith('/registry/')) {
      response.writeHead(303, { location: `/ip/${address}` }).end()
      return
    }
    lookups.push(address)
    const answer = answers.get(address) ?? 404
    if (typeof answer === 'number') response.writeHead(answer).end()
    else response.end(JSON.stringify(answer))
  })
  registry.listen(0, '127.0.0.1')
  await once(registry, 'listening')
  const bound = registry.address()
  const origin = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`
  sink = await startSink()
  const settings = { TRUSTED_PROXIES: '127.0.0.1', SMTP_URL: sink.url, MAIL_FROM: 'portreeve@example.com', ROLES: 'web' } // prettier-ignore
  portreeve = await startTestService(settings)
  database = openDatabase(portreeve.databaseUrl)
  const guard = { resolver: mapResolver(), allowPrivate: true } as const
  deps = {
    db: database.db,
    log: createLog('silent'),
    clock: () => Date.now() + 86_400_000,
    request: createGuardedFetch(guard, 5_000),
    origins: new Map([['https://rdap.arin.net', origin]]),
    mailRelay: { smtpUrl: sink.url, from: 'portreeve@example.com' },
    returnPath: null,
    baseUrl: portreeve.url,
    optOutKey: await loadStableKey(database.db, 'abuse mail opt-outs', String, {
      secretKey: SERVICE_KEY,
    }),
  }
  admin = await addAdministrator(portreeve, 'Ada')
  alice = await portreeve.addPerson('Alice')
  charlie = await portreeve.addPerson('Charlie')
  token = ((await (await ask(alice, 'POST', 'tokens', {})).json()) as { token: string }).token
})
afterAll(async () => {
  await portreeve?.stop()
  await database?.close()
  await sink?.stop()
  registry?.close()
})
beforeEach(() => {
  sink.mails.length = 0
  sink.behaviour = 'taking'
  lookups.length = 0
})

const ask = (as: Person, method: string, path: string, body?: object) =>
  portreeve.request(`/api/v1/abuse/${path}`, {
    method,
    token: as.token,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })

const report = (ip: string, rest: object = {}) =>
  portreeve.request('/api/v1/abuse/report', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-report-token': token },
    body: JSON.stringify({ ip, service: 'ssh', ...rest }),
  })

const setMode = async (mode: string) =>
  expect((await ask(alice, 'PUT', 'mails/settings', { mode })).status).toBe(200)

const run = () => mailReports(deps, inLiveWorkspaces(AbortSignal.timeout(30_000)))

type Mail = { id: string; recipient: string; state: string; reason: string; addresses: number; isTest: boolean } // prettier-ignore

async function mails(as = alice): Promise<Mail[]> {
  const answer = await ask(as, 'GET', 'mails?limit=100')
  return ((await answer.json()) as { data: { mails: Mail[] } }).data.mails
}

describe('abuse emails', () => {
  alone('are off until the workspace turns them on, and go to itself in test mode', async () => {
    await report('9.1.0.1')
    await setMode('test')
    await report('9.1.0.2', { port: 22, count: 5 })
    await report('9.1.0.2', { service: 'imap' })
    await report('9.1.0.9', { service: 'syn-flood' })
    answers.set('9.1.0.2', network('9.1.0.0', '9.1.0.255', 'abuse@one.example'))
    await run()
    expect(await mails()).toMatchObject([{ recipient: 'abuse@one.example', state: 'sent', isTest: true, addresses: 1 }]) // prettier-ignore
    const [mail] = sink.mails
    expect([mail?.to?.[0]?.address, mail?.replyTo?.[0]?.address]).toEqual([alice.email, alice.email]) // prettier-ignore
    expect(mail?.text).toContain('this email would go to abuse@one.example')
    expect(mail?.subject).toMatch(/^Abuse report: 9\.1\.0\.2 attacked our servers on \d{4}-/)
    const xarf = new TextDecoder().decode(mail?.attachments[0]?.content as ArrayBuffer)
    for (const line of [
      'Category: abuse',
      'Report-Type: login-attack',
      'Source: "9.1.0.2"',
      'Version: "0.2"',
      'Port: 22',
      'Occurrences: 6',
    ])
      // prettier-ignore
      expect(xarf).toContain(`\n${line}\n`)
    expect(mail?.headers.find(({ key }) => key === 'x-xarf')?.value).toBe('PLAIN')
    const [{ id } = { id: '' }] = await mails()
    const shown = (await (await ask(alice, 'GET', `mails/${id}`)).json()) as { data: { text: string } } // prettier-ignore
    expect(shown.data.text.split('\n')[0]).toBe(mail?.text?.split('\n')[0])
    // The link opts the recipient out of all emails of this service: nobody else gets it.
    for (const text of [mail?.text ?? '', shown.data.text, JSON.stringify(mail?.headers)])
      expect(text).not.toContain('/opt-out/')
    expect((await ask(charlie, 'GET', `mails/${id}`)).status).toBe(404)
    expect(await mails(charlie)).toEqual([])
  })

  alone('are one for each network and day, with one lookup for each /24', async () => {
    await setMode('on')
    answers.set('9.2.0.1', network('9.2.0.0', '9.2.0.255', 'abuse@two.example'))
    answers.set('9.3.0.1', network('9.3.0.0', '9.3.0.255', null))
    for (const ip of ['9.2.0.1', '9.2.0.2', '9.3.0.1']) await report(ip)
    await run()
    expect(sink.mails.map(({ to, attachments }) => [to?.[0]?.address, attachments.length])).toEqual([['abuse@two.example', 2]]) // prettier-ignore
    const link = `/opt-out/${createOptOutToken(deps.optOutKey, 'abuse@two.example')}`
    expect(sink.mails[0]?.text).toContain(link)
    expect(JSON.stringify(sink.mails[0]?.headers)).toContain(link)
    const [{ id } = { id: '' }] = await mails()
    expect(await (await ask(alice, 'GET', `mails/${id}`)).text()).not.toContain('/opt-out/')
    expect(lookups.toSorted()).toEqual(['9.2.0.1', '9.3.0.1'])
    await run()
    expect(sink.mails).toHaveLength(1)
  })

  alone('are never sent again to an address that opted out', async () => {
    const optOut = createOptOutToken(deps.optOutKey, 'abuse@two.example')
    expect((await portreeve.request(`/abuse-reports/opt-out/${optOut.slice(1)}`)).status).toBe(404)
    const page = await portreeve.request(`/abuse-reports/opt-out/${optOut}`)
    expect(await page.text()).toContain('Stop these emails')
    const { rows: before } = await database.pool.query('select from abuse_mail_opt_out')
    expect(before).toEqual([])
    expect((await portreeve.request(`/abuse-reports/opt-out/${optOut}`, { method: 'POST' })).status).toBe(200) // prettier-ignore
    await database.pool.query("delete from abuse_mail where recipient = 'abuse@two.example'")
    await run()
    expect(sink.mails).toEqual([])
    expect((await mails())[0]).toMatchObject({ state: 'skipped', reason: 'The recipient does not want these emails.' }) // prettier-ignore
  })

  alone('end when an administrator says that they come back', async () => {
    answers.set('9.8.0.1', network('9.8.0.0', '9.8.0.255', 'abuse@eight.example'))
    await report('9.8.0.1')
    expect((await ask(alice, 'POST', 'mails/opt-outs', { email: 'abuse@eight.example' })).status).toBe(403) // prettier-ignore
    expect((await ask(admin, 'POST', 'mails/opt-outs', { email: 'Abuse@Eight.example' })).status).toBe(201) // prettier-ignore
    await run()
    expect(sink.mails).toEqual([])
    expect((await mails())[0]).toMatchObject({ state: 'skipped', reason: 'The recipient does not want these emails.' }) // prettier-ignore
  })

  alone('end when the mail bounces, and wait when the relay is busy', async () => {
    answers.set('9.4.0.1', network('9.4.0.0', '9.4.0.255', 'abuse@four.example'))
    await report('9.4.0.1')
    sink.behaviour = 'busy'
    await run()
    expect((await mails())[0]).toMatchObject({ state: 'waiting' })
    await database.pool.query("update abuse_mail set due_at = now() where state = 'waiting'")
    sink.behaviour = 'refusing'
    await run()
    expect((await mails())[0]).toMatchObject({ state: 'failed' })
    const { rows } = await database.pool.query('select reason from abuse_mail_opt_out order by 1')
    expect(rows).toEqual([{ reason: 'administrator' }, { reason: 'bounce' }, { reason: 'link' }])
  })

  alone(
    'are listed as unwanted with date and source, and administrators can take that back',
    async () => {
      const list = async (query = '') => {
        const answer = await ask(admin, 'GET', `mails/opt-outs${query}`)
        return ((await answer.json()) as { data: { optOuts: { id: string }[] } }).data.optOuts
      }
      expect(await list()).toMatchObject([
        { email: 'abuse@four.example', source: 'bounce', createdAt: expect.any(String) as string },
        { email: 'abuse@eight.example', source: 'administrator' },
        { email: 'abuse@two.example', source: 'link' },
      ])
      expect((await ask(alice, 'GET', 'mails/opt-outs')).status).toBe(403)
      const [two] = await list('?email=ABUSE@two.example')
      const remove = (as = admin) => ask(as, 'DELETE', `mails/opt-outs/${two?.id}`)
      expect((await remove(alice)).status).toBe(403)
      expect((await remove()).status).toBe(200)
      expect((await remove()).status).toBe(404)
      expect(await list('?email=abuse@two.example')).toEqual([])
      answers.set('9.2.0.3', network('9.2.0.0', '9.2.0.255', 'abuse@two.example'))
      await report('9.2.0.3')
      await run()
      expect(sink.mails.map(({ to }) => to?.[0]?.address)).toEqual(['abuse@two.example'])
    },
  )

  alone('are not sent twice after a crash', async () => {
    answers.set('9.5.0.1', network('9.5.0.0', '9.5.0.255', 'abuse@five.example'))
    answers.set('9.6.0.1', network('9.6.0.0', '9.6.0.255', 'abuse@six.example'))
    for (const ip of ['9.5.0.1', '9.6.0.1']) await report(ip)
    sink.behaviour = 'busy'
    await run()
    sink.behaviour = 'taking'
    // What a process leaves that is killed before and after the relay got the email.
    await database.pool.query(
      `update abuse_mail set state = 'sending', due_at = now(), attempts = 1,
        handed_over_at = case when recipient = 'abuse@six.example' then now() end where state = 'waiting'`,
    )
    await run()
    expect(sink.mails.map(({ to }) => to?.[0]?.address)).toEqual(['abuse@five.example'])
    const states = (await mails()).map(({ recipient, state }) => [recipient, state])
    expect(states).toEqual(
      expect.arrayContaining([
        ['abuse@five.example', 'sent'],
        ['abuse@six.example', 'uncertain'],
      ]),
    )
  })

  alone('leave out networks while their registry does not answer', async () => {
    answers.set('9.7.0.1', 429)
    await report('9.7.0.1')
    await run()
    expect(sink.mails).toEqual([])
    answers.set('9.7.0.1', network('9.7.0.0', '9.7.0.255', 'abuse@seven.example'))
    await run()
    expect(sink.mails.map(({ to }) => to?.[0]?.address)).toEqual(['abuse@seven.example'])
  })
})
