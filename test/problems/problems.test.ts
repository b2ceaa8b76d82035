import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProblemList } from '../../src/problems/shapes.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { runInProcess } from '../cli/command.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

let portreeve: TestService
let database: Database
let alice: Person
let bob: Person
beforeAll(async () => {
  // With a relay, the channel of the owner is no problem. A worker would check what tests insert.
  portreeve = await startTestService({
    ROLES: 'web',
    LOG_LEVEL: 'error',
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'portreeve@harbour.test',
  })
  database = openDatabase(portreeve.databaseUrl)
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
  await verifyEmail()
  await fill(alice.id)
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
})

const query = (text: string, values: unknown[] = []) => database.pool.query(text, values)

async function insert(text: string, values: unknown[]): Promise<string> {
  const { rows } = await query(`${text} returning id`, values)
  return (rows[0] as { id: string }).id
}

const verifyEmail = () => query('update account set email_verified = true')

async function list(token: string, workspace?: string) {
  const headers = workspace === undefined ? {} : { 'x-workspace': workspace }
  const answer = await portreeve.request('/api/v1/problems', { token, headers })
  return { status: answer.status, ...((await answer.json()) as { data: ProblemList }) }
}

const sentencesOf = ({ data }: { data: ProblemList }) =>
  data.problems.map(({ sentence }) => sentence)

async function addHost(workspaceId: string, host: string, ip: string | null): Promise<string> {
  const [status, listed] = ip === null ? ['clean', 0] : ['listed', 1]
  const id = await insert(
    'insert into monitored_host (workspace_id, host, status, listed_count) values ($1, $2, $3, $4)',
    [workspaceId, host, status, listed],
  )
  if (ip !== null) await addFact(id, 'blacklist', `${ip} bl.spamcop.net`, 'listed', {})
  return id
}

async function addFact(id: string, kind: string, subject: string, state: string, detail: object) {
  await query(
    `insert into monitored_fact (host_id, kind, subject, state, since, detail) values ($1, $2, $3, $4, now(), $5)`,
    [id, kind, subject, state, detail],
  )
}

/** A delisting with a step that waits for the user. */
async function addDelisting(workspaceId: string, ip: string): Promise<string> {
  const id = await insert(
    `insert into delisting_process (workspace_id, ip, status, asked_count, unknown_count, not_pursued, created_at)
     values ($1, $2, 'in-progress', 1, 0, '[]', now())`,
    [workspaceId, ip],
  )
  await query(
    `insert into delisting_step (process_id, rank, zone, name, category, method, plan, confirmed, first_answer,
       last_answer, status, needs)
     values ($1, 1, 'bl.spamcop.net', 'SpamCop', 'major', 'form', '{}', false, '{}', '{}', 'waiting', 'submit')`,
    [id],
  )
  return id
}

const addMigration = (workspaceId: string, user: string, { dryRun = false, days = 0 } = {}) =>
  insert(
    `insert into migration (workspace_id, status, source, destination, folders, options, progress, error_count,
       counted, created_at)
     values ($1, 'failed', $2, $2, '{}', $3, '{}', 2, false, now() - make_interval(days => $4))`,
    [workspaceId, { host: 'imap.test', user }, { dryRun }, days],
  )

const addDomain = (workspaceId: string, domain: string) =>
  insert(
    'insert into dmarc_domain (workspace_id, domain, mailbox, challenge) values ($1, $2, $3, $2)',
    [workspaceId, domain, `${domain} ${workspaceId}`],
  )

const watch = (workspaceId: string, domain: string, sentence: string) =>
  query(
    `insert into watched_domain (workspace_id, domain, state, sentence, stages) values ($1, $2, 'bad', $3, $4)`,
    [workspaceId, domain, sentence, JSON.stringify([{ name: 'authentication', state: 'bad' }])],
  )

const ids: Record<string, string> = {}

/** A problem of each kind. */
async function fill(workspaceId: string): Promise<void> {
  await addHost(workspaceId, 'mail.harbour.test', '45.9.8.7')
  ids['certificate'] = await addHost(workspaceId, 'www.harbour.test', null)
  const validTo = new Date(Date.now() - 86_400_000).toISOString()
  await addFact(ids['certificate'], 'certificate', '443', 'expired', { validTo })
  await watch(workspaceId, 'harbour.test', 'harbour.test has 1 problem: SPF.')
  ids['delisting'] = await addDelisting(workspaceId, '45.9.8.9')
  ids['migration'] = await addMigration(workspaceId, 'old.mailbox')
  await addMigration(workspaceId, 'dry.run', { dryRun: true })
  await addMigration(workspaceId, 'long.ago', { days: 15 })
  await insert(
    `insert into dmarc_mailbox (workspace_id, host, port, secure, tls_verify, username, folder, failing_since)
     values ($1, 'imap.test', 993, true, true, 'reports', 'INBOX', now())`,
    [workspaceId],
  )
  ids['domain'] = await addDomain(workspaceId, 'harbour.test')
  await insert(
    `insert into alert_channel (workspace_id, type, target) values ($1, 'email', 'ops@harbour.test')`,
    [workspaceId],
  )
}

const SENTENCES = [
  '45.9.8.7 is on 1 blocklist (1 host, 1 domain).',
  'harbour.test has 1 problem: SPF.',
  'The certificate of www.harbour.test has expired.',
  'Migration of old.mailbox failed with 2 errors.',
  'Can’t read reports from mailbox reports on imap.test.',
  'Alert channel ops@harbour.test isn’t confirmed: enter the code we sent there.',
  'Delisting 45.9.8.9: 1 step needs your action.',
]

describe('the problems of a workspace', () => {
  it('are of each kind, with the screen and the address to act on them', async () => {
    const { status, data } = await list(alice.token)
    expect(status).toBe(200)
    expect(sentencesOf({ data })).toEqual(SENTENCES)
    expect(data).toMatchObject({
      count: SENTENCES.length,
      setup: [{ key: ids['domain'], path: `/dmarc/${ids['domain']}/record` }],
      administration: [],
      missing: [],
    })
    expect(data.problems.map(({ path }) => path)).toEqual([
      '/delisting/new?ip=45.9.8.7',
      '/domains/harbour.test',
      `/monitoring/${ids['certificate']}`,
      `/migrations/${ids['migration']}`,
      '/dmarc/mailboxes',
      '/alerts/channels',
      `/delisting/${ids['delisting']}`,
    ])
    const [listed, domain] = data.problems.map(({ url }) => new URL(url))
    expect(Object.fromEntries(listed?.searchParams ?? [])).toEqual({
      ip: '45.9.8.7',
      workspace: alice.id,
    })
    expect(domain?.href.startsWith(portreeve.url)).toBe(true)
    expect(domain?.href.endsWith(`/domains/harbour.test?workspace=${alice.id}`)).toBe(true)
  })

  it('are none of another workspace', async () => {
    const { data } = await list(bob.token)
    expect(data).toMatchObject({ count: 0, problems: [], setup: [], administration: [] })
    expect((await list(bob.token, alice.id)).status).toBe(403)
    const second = await portreeve.addWorkspace(alice)
    expect((await list(second.token)).data.count).toBe(0)
    expect((await list(second.token, alice.id)).status).toBe(403)
  })

  it('are for accounts only, and with a token for those of its modules', async () => {
    expect((await portreeve.request('/api/v1/problems')).status).toBe(401)
    const tokenWith = (scopes: Parameters<TestService['addToken']>[2]) =>
      portreeve.addToken(alice.id, alice.id, scopes)
    const none = await tokenWith({ scopes: ['monitoring:read'] })
    expect((await list(none)).status).toBe(403)
    const some = await tokenWith({ scopes: ['workspace:read', 'delisting:read', 'dmarc:read'] })
    expect(sentencesOf(await list(some))).toEqual([SENTENCES[4], SENTENCES[6]])
    const checks = await tokenWith({ scopes: ['workspace:read', 'checks:read'] })
    expect(sentencesOf(await list(checks))).toEqual([SENTENCES[1]])
    const rosa = await portreeve.addMember(alice.id, 'Rosa', 'read-only')
    expect(sentencesOf(await list(rosa.token))).toEqual(SENTENCES)
  })

  it('of the installation are for its administrators, without a limited token', async () => {
    const ada = await portreeve.addPerson('Ada', { admin: true })
    await verifyEmail()
    await query(
      `insert into abuse_appeal (address, reason, own, status) select ('45.9.8.' || n)::inet, 'mine', true, 'open'
       from generate_series(1, 25) n`,
    )
    const { data } = await list(ada.token)
    expect(data).toMatchObject({
      count: 0,
      administration: [{ sentence: '25 appeals to review.', path: '/attacks/administration' }],
    })
    const limited = await portreeve.addToken(ada.id, ada.id, { scopes: ['*:write'] })
    expect((await list(limited)).data.administration).toEqual([])
  })

  it('are those that could be read, if a part fails', async () => {
    await query('alter table delisting_step rename to other_step')
    try {
      const { status, data } = await list(alice.token)
      expect([status, data.missing]).toEqual([200, ['delisting']])
      expect(sentencesOf({ data })).toEqual(SENTENCES.slice(0, -1))
    } finally {
      await query('alter table other_step rename to delisting_step')
    }
  })

  it('are bounded, however many objects have some', async () => {
    const { id, token } = await portreeve.addPerson('Greta')
    await verifyEmail()
    for (const n of Array(130).keys()) {
      await addHost(id, `mx${n}.test`, `45.10.0.${n + 1}`)
      await addMigration(id, `box${n}`)
      await addDomain(id, `d${n}.test`)
      await watch(id, `d${n}.test`, `d${n}.test has 1 problem: SPF.`)
    }
    const { data } = await list(token)
    const countOf = (pattern: RegExp) =>
      sentencesOf({ data }).filter((one) => pattern.test(one)).length
    expect([countOf(/blocklist/), countOf(/^Migration/), countOf(/SPF/)]).toEqual([50, 100, 100])
    for (const more of [
      '80 more hosts are listed.',
      '30 more domains have problems.',
      '30 more migrations failed.',
    ])
      // prettier-ignore
      expect(sentencesOf({ data })).toContain(more)
    expect(data.count).toBe(390)
    expect(data.setup).toMatchObject([{ sentence: '130 domains aren’t verified.' }])
  })
})

describe('portreeve problems', () => {
  const run = (token: string, ...words: string[]) =>
    runInProcess(['problems', '--server', portreeve.url, ...words], { PORTREEVE_TOKEN: token })

  it('lists them with their addresses, and fails', async () => {
    const { code, out } = await run(alice.token)
    expect(code).toBe(1)
    expect(out).toContain(`\n  7 problems\n\n  ✗ ${SENTENCES[0]}\n    → Start delisting: http`)
    expect(out).toContain('Left to set up\n\n  ! Verify harbour.test')
  })

  it('succeeds without any', async () => {
    expect(await run(bob.token)).toMatchObject({ code: 0, out: '\n  No problems\n' })
    const { code, out } = await run(bob.token, '--json')
    expect([code, (JSON.parse(out) as { data: ProblemList }).data.count]).toEqual([0, 0])
  })

  it('fails where a module could not be read', async () => {
    await query('alter table delisting_process rename to other_process')
    try {
      const { code, out } = await run(bob.token)
      expect([code, out]).toEqual([1, '\n  No problems. Couldn’t read: delisting\n'])
    } finally {
      await query('alter table other_process rename to delisting_process')
    }
  })
})
