import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { checkCanariesJob, sendCanariesJob } from '../../src/deliverability/canary/canary-jobs.ts'
import type {
  Canary,
  CanaryDay,
  CanaryResult,
  CanarySeed,
} from '../../src/deliverability/canary/shapes.ts'
import { createMailCredentialsModule } from '../../src/mail-credentials/module.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { freePort } from '../free-port.ts'
import { BASE_URL, CALLBACK, signedInBrowser } from '../mail-credentials/browser.ts'
import { jobContext } from '../jobs/context.ts'
import { mapResolver } from '../resolver.ts'
import { startDovecot, type DovecotServer } from '../servers/dovecot.ts'
import { startMailProvider, type MailProviderServer } from '../servers/mail-provider.ts'
import { startSubmission, type SubmissionPostfix } from '../servers/postfix.ts'
import { SERVICE_KEY, startTestService, type Person, type TestService } from '../service.ts'

type Answer<T> = { status: number; data: T; error: string }

const PASSWORD = 'of-the-submission'
const WAIT = { timeout: 60_000, interval: 200 }

/** What the filters of providers do with mail. */
const SIEVE = `require ["fileinto", "mailbox", "envelope", "editheader"];
if envelope :localpart :is "to" ["junk", "listed"] {
  if envelope :localpart :is "to" "listed" {
    addheader "X-Forefront-Antispam-Report" "CIP:192.0.2.1;CTRY:DE;SFV:SKA;CAT:NONE";
  }
  fileinto :create "Spam";
} elsif envelope :localpart :is "to" "filed" {
  fileinto :create "Offers";
}
`

describe('a canary', () => {
  let provider: MailProviderServer
  let dovecot: DovecotServer
  let postfix: SubmissionPostfix
  let service: TestService
  let database: Database['pool']
  let opened: Database
  let alice: Person

  beforeAll(async () => {
    const [lmtpPort, authPort] = [await freePort(), await freePort()]
    provider = await startMailProvider(CALLBACK)
    dovecot = await startDovecot({
      delivery: { lmtpPort, authPort, password: PASSWORD, sieve: SIEVE },
      introspectAt: provider.introspectionUrl,
    })
    postfix = await startSubmission({ authPort, lmtpPort })
    // No jobs, which would send and look at times of their own.
    service = await startTestService({ ROLES: 'web', BASE_URL, ...provider.settings })
    opened = openDatabase(service.databaseUrl)
    database = opened.pool
  }, 180_000)
  afterAll(async () => {
    await opened?.close()
    await Promise.all([service?.stop(), postfix?.stop(), dovecot?.stop(), provider?.stop()])
  })
  beforeEach(async () => {
    await database.query('delete from canary')
    alice = await service.addPerson('Alice')
  })

  async function ask<T>(
    method: string,
    path: string,
    body?: object,
    token = alice.token,
  ): Promise<Answer<T>> {
    const response = await service.request(`/api/v1/canaries${path}`, {
      method,
      token,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const { data, error } = (await response.json()) as { data: T; error: string }
    return { status: response.status, data, error }
  }
  const settings = () => ({
    sender: 'news@sender.test',
    host: '127.0.0.1',
    port: postfix.port,
    tlsVerify: false,
    user: 'news',
    password: PASSWORD,
  })
  async function create(...seeds: string[]): Promise<string> {
    const created = await ask<Canary>('POST', '', settings())
    expect(created.status, created.error).toBe(201)
    for (const name of seeds) {
      await dovecot.addUser(name, 'secret')
      const added = await ask('POST', `/${created.data.id}/seeds`, seedOf(name))
      expect(added.status, added.error).toBe(201)
    }
    return created.data.id
  }
  const seedOf = (name: string) => ({
    email: `${name}@seeds.test`,
    host: '127.0.0.1',
    port: dovecot.port,
    secure: false,
    tlsVerify: false,
    user: name,
    password: 'secret',
  })
  const removeCredential = async (id: string) => {
    const path = `/api/v1/imap/credentials/${id}`
    return (await service.request(path, { method: 'DELETE', token: alice.token })).status
  }
  const results = async (id: string) => (await ask<CanaryResult[]>('GET', `/${id}/results`)).data

  function deps() {
    const shared = {
      db: opened.db,
      secretKey: SERVICE_KEY,
      resolver: mapResolver({}),
      allowPrivate: true,
    }
    const { openTokens } = createMailCredentialsModule({
      ...shared,
      config: readConfig({ BASE_URL, ...provider.settings }),
      isUsed: async () => false,
      isKept: async () => false,
      onProblem: async () => {},
      onClientRejected: async () => {},
      onClientAccepted: async () => {},
    })
    return { ...shared, openTokens }
  }
  /** Sends the mails now, and waits until the server has delivered them. */
  async function send(id: string): Promise<void> {
    await database.query('update canary set due_at = now() where id = $1', [id])
    await sendCanariesJob(deps()).run({}, jobContext())
    await vi.waitFor(async () => {
      const { rows } = await database.query(
        'select from canary_result where not is_submitted and outcome is null',
      )
      expect(rows).toEqual([])
      expect(postfix.log()).not.toMatch(/status=deferred/)
    }, WAIT)
  }
  /** Looks for the mails, as if they had been sent so many minutes ago. */
  async function look(minutes: number): Promise<void> {
    await database.query(
      `update canary_result set due_at = now(), sent_at = now() - make_interval(mins => $1)
       where outcome is null`,
      [minutes],
    )
    await checkCanariesJob(deps()).run({}, jobContext())
  }
  /** Looks again until each outcome is known. */
  async function outcomes(id: string): Promise<Record<string, CanaryResult>> {
    await vi.waitFor(async () => {
      await database.query('update canary_result set due_at = now() where outcome is null')
      await checkCanariesJob(deps()).run({}, jobContext())
      expect((await results(id)).filter(({ outcome }) => outcome === null)).toEqual([])
    }, WAIT)
    const { data } = await ask<Canary[]>('GET', '')
    return Object.fromEntries(
      (data.find((canary) => canary.id === id)?.seeds ?? []).map((seed) => [
        seed.email.split('@')[0],
        seed.latest as CanaryResult,
      ]),
    )
  }
  async function alerts() {
    const { rows } = await database.query<{ kind: string; phase: string; title: string }>(
      'select kind, phase, title from alert where workspace_id = $1 order by id',
      [alice.id],
    )
    return rows
  }

  it('sees inbox, junk folder and other folders, through Postfix and Sieve', async () => {
    const id = await create('inbox', 'junk')
    await send(id)
    const seen = await outcomes(id)
    expect(seen['inbox']).toMatchObject({ outcome: 'inbox', folder: 'INBOX', voidReason: null })
    expect(seen['junk']).toMatchObject({ outcome: 'junk', folder: 'Spam', voidReason: null })
    expect(seen['inbox']?.delaySeconds).toBeLessThan(60)
    const { data } = await ask<CanaryDay[]>('GET', `/${id}/days`)
    const day = new Date().toISOString().slice(0, 10)
    expect(data).toEqual([
      { day, provider: '127.0.0.1', outcome: 'inbox', count: 1, voids: 0 },
      { day, provider: '127.0.0.1', outcome: 'junk', count: 1, voids: 0 },
    ])
  })

  it('finds a mail that a rule has filed, once it is not in the inbox', async () => {
    const id = await create('filed')
    await send(id)
    await look(2)
    expect(await results(id)).toMatchObject([{ outcome: null }])
    await vi.waitFor(async () => {
      await look(10)
      expect(await results(id)).toMatchObject([{ outcome: 'category', folder: 'Offers' }])
    }, WAIT)
  })

  it('calls a result void where the mailbox lets the sender through', async () => {
    const id = await create('listed')
    await send(id)
    expect((await outcomes(id))['listed']).toMatchObject({ outcome: 'junk', voidReason: 'SFV:SKA' })
    for (let run = 0; run < 2; run++) {
      await send(id)
      await outcomes(id)
    }
    expect(await alerts()).toEqual([])
  })

  it('tells missing from refused, and both from unknown', async () => {
    const id = await create('lost', 'refused', 'locked')
    await database.query(`update canary_seed set username = 'x' where email like 'locked@%'`)
    await send(id)
    expect(await results(id)).toContainEqual(
      expect.objectContaining({ outcome: 'refused', detail: expect.stringContaining('554') }),
    )
    await look(59)
    const open = (await results(id)).filter(({ outcome }) => outcome === null)
    expect(open).toHaveLength(2)
    await look(61)
    const seen = await outcomes(id)
    expect(seen['lost']).toMatchObject({ outcome: 'missing' })
    expect(seen['locked']).toMatchObject({ outcome: 'unknown', detail: expect.any(String) })
    const { data } = await ask<Canary[]>('GET', '')
    expect(data[0]?.seeds.find(({ email }) => email.startsWith('locked'))?.problem).not.toBeNull()
  })

  it('calls a mail late that took more than ten minutes', async () => {
    const id = await create('inbox')
    await send(id)
    await look(11)
    await vi.waitFor(async () => {
      await look(11)
      expect((await results(id))[0]).toMatchObject({ outcome: 'late', folder: 'INBOX' })
    }, WAIT)
  })

  it('reads a seed with a sign-in at the provider, and knows nothing once that is revoked', async () => {
    const id = await create()
    await dovecot.addUser('alice', 'secret')
    provider.state.person = 'alice'
    const browser = await signedInBrowser(service, alice)
    const credentialId = (await browser.consent()).credential?.id ?? ''
    const { password: _none, ...seed } = seedOf('alice')
    const elsewhere = { ...seed, host: 'imap.example.com', credentialId }
    expect(await ask('POST', `/${id}/seeds`, elsewhere)).toMatchObject({
      status: 400,
      error: expect.stringContaining('Example Mail'),
    })
    const bob = await service.addPerson('Bob')
    const others = await ask<Canary>('POST', '', settings(), bob.token)
    const stolen = { ...seed, credentialId }
    const path = `/${others.data.id}/seeds`
    expect((await ask('POST', path, stolen, bob.token)).status).toBe(404)
    const added = await ask<CanarySeed>('POST', `/${id}/seeds`, { ...seed, credentialId })
    expect(added, added.error).toMatchObject({
      status: 201,
      data: { credentialId, needsSignIn: false, problem: null },
    })
    await send(id)
    expect((await outcomes(id))['alice']).toMatchObject({ outcome: 'inbox', folder: 'INBOX' })
    expect(await removeCredential(credentialId)).toBe(409)

    await provider.revokeAll()
    await database.query('update mail_credential set access_expires_at = now()')
    await send(id)
    await look(61)
    const seedNow = async () => (await ask<Canary[]>('GET', '')).data[0]?.seeds[0]
    const problem = expect.stringMatching(
      /^alice@mail\.test: The permission at Example Mail has ended: .*Sign in again/,
    )
    expect(await seedNow()).toMatchObject({ needsSignIn: true, problem, isBad: false })
    expect(await results(id)).toContainEqual(
      expect.objectContaining({ outcome: 'unknown', detail: problem }),
    )
    expect(await alerts()).toEqual([])

    expect((await browser.consent({ provider: 'other', credentialId })).state).toBe('granted')
    expect(await seedNow()).toMatchObject({ needsSignIn: false, problem: null })
    await send(id)
    expect((await outcomes(id))['alice']).toMatchObject({ outcome: 'inbox' })
    expect((await ask('DELETE', `/${id}`)).status).toBe(200)
    expect(await removeCredential(credentialId)).toBe(200)
  })

  it('raises an alert after two of three, and ends it after three good ones', async () => {
    const id = await create('lost')
    const run = async (minutes: number) => {
      await send(id)
      await look(minutes)
      await outcomes(id)
    }
    await run(61)
    expect(await alerts()).toEqual([])
    await run(61)
    expect(await alerts()).toEqual([
      {
        kind: 'deliverability.placement',
        phase: 'open',
        title: 'Mail from sender.test doesn’t reach the inbox of lost@seeds.test',
      },
    ])
    await database.query(`update canary_seed set email = 'inbox@seeds.test', username = 'inbox'`)
    await dovecot.addUser('inbox', 'secret')
    await send(id)
    await outcomes(id)
    await send(id)
    await outcomes(id)
    expect(await alerts()).toHaveLength(1)
    await send(id)
    await outcomes(id)
    expect((await alerts()).slice(1)).toMatchObject([
      { kind: 'deliverability.placement-recovered', phase: 'resolved' },
    ])
  })

  it('knows nothing while its own sign-in is rejected, and says so after three runs', async () => {
    const id = await create('inbox')
    await database.query(`update canary set username = 'news', port = $1`, [await freePort()])
    for (let run = 0; run < 3; run++) await send(id)
    expect((await results(id)).map(({ outcome }) => outcome)).toEqual([
      'unknown',
      'unknown',
      'unknown',
    ])
    expect(await alerts()).toMatchObject([{ kind: 'deliverability.canary-blind', phase: 'open' }])
    const { data } = await ask<Canary[]>('GET', '')
    expect(data[0]?.problem).toContain('127.0.0.1')
  })

  it('is created only with a sign-in that works, and never shows a password', async () => {
    const rejected = await ask('POST', '', { ...settings(), password: 'wrong' })
    expect(rejected).toMatchObject({ status: 422, error: expect.stringContaining('sign-in') })
    const id = await create('inbox')
    const seed = await ask('POST', `/${id}/seeds`, { ...seedOf('inbox'), password: 'wrong' })
    expect(seed.status).toBe(422)
    expect((await ask('POST', `/${id}/seeds`, seedOf('inbox'))).status).toBe(409)
    const text = JSON.stringify((await ask('GET', '')).data)
    expect(text).not.toMatch(/secret|password|sealed/)
    expect((await ask('POST', '', { ...settings(), sender: 'A <a@b.test>' })).status).toBe(400)
  })

  it('is turned off, run at once, and seen by its workspace alone', async () => {
    const id = await create('inbox')
    const off = await ask<Canary>('PATCH', `/${id}`, { enabled: false, everyHours: 24 })
    expect(off.data).toMatchObject({ enabled: false, everyHours: 24, nextRunAt: null })
    expect((await ask<Canary>('POST', `/${id}/run`)).data.nextRunAt).not.toBeNull()
    const charlie = await service.addPerson('Charlie')
    expect((await ask('GET', '', undefined, charlie.token)).data).toEqual([])
    for (const [method, path] of [
      ['GET', `/${id}/days`],
      ['POST', `/${id}/run`],
      ['DELETE', `/${id}`],
    ] as const)
      expect((await ask(method, path, undefined, charlie.token)).status).toBe(404)
    expect((await ask('DELETE', `/${id}`)).status).toBe(200)
    expect((await ask('GET', '')).data).toEqual([])
  })
})
