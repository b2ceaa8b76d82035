import { globSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deleteWorkspace, restoreWorkspace } from '../../src/accounts/workspaces/workspaces.ts'
import { changeRelay } from '../../src/exchange/relays/relays.ts'
import { secretContext } from '../../src/alerts/channels/channel.ts'
import { readConfig } from '../../src/config.ts'
import { insertDomain } from '../../src/dmarc/domains/dmarc-domains.sql.ts'
import { encryptLinks } from '../../src/deliverability/snds/snds-links.ts'
import { saveSndsAccess } from '../../src/deliverability/snds/snds.sql.ts'
import { encryptionContext } from '../../src/dmarc/mailboxes/fetch.ts'
import type { Job } from '../../src/jobs/job.ts'
import { openQueue, type Queue } from '../../src/jobs/queue.ts'
import { retentionJobs } from '../../src/jobs/retention-jobs.ts'
import { startWorker, type Worker } from '../../src/jobs/worker.ts'
import { createLog } from '../../src/log.ts'
import { encryptAdministrator } from '../../src/mail-credentials/administrator/secret.ts'
import { fingerprintOf } from '../../src/mail-credentials/clients/client-fingerprint.ts'
import type { MailProvider } from '../../src/mail-credentials/providers.ts'
import { insertCredential } from '../../src/mail-credentials/mail-credentials.sql.ts'
import { encryptTokens } from '../../src/mail-credentials/access-tokens.ts'
import { encryptPasswords } from '../../src/migration/batches/passwords.ts'
import { requestProofs } from '../../src/migration/proof/proofs.sql.ts'
import { insertMigration } from '../../src/migration/migrations.sql.ts'
import { encryptSecrets, noProgress } from '../../src/migration/submit-migration.ts'
import type { Module } from '../../src/module.ts'
import { createModules } from '../../src/modules.ts'
import { encrypt } from '../../src/store/encryption.ts'
import { openNotifications, type Notifications } from '../../src/store/notifications.ts'
import { newUuid } from '../../src/store/uuid.ts'
import { insertEndpoint } from '../../src/webhooks/endpoints/endpoints.sql.ts'
import { newEndpointToken } from '../../src/webhooks/endpoint-token.ts'
import {
  newDestinationId,
  newDestinationSecret,
  seal,
} from '../../src/webhooks/forwarding/destination-settings.ts'
import { insertDestination } from '../../src/webhooks/forwarding/destinations.sql.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { addAccount } from '../people.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'

/**
 * All jobs, with the contacts that each makes for the workspace of this test. A new job belongs
 * here: with what it contacts, and rows in `fill` that are due for it; or with none, if it contacts
 * nothing on behalf of a workspace.
 */
const CONTACTS: Record<string, string[]> = {
  'abuse.bounces': [],
  'abuse.mails': ['mail to abuse@provider.test'],
  'abuse.public-feeds': [],
  'abuse.relays': ['relay'],
  'abuse.retention': [],
  'abuse.standing': [],
  'abuse.token-counts': [],
  'abuse.watched-networks': [],
  'fleet.retention': [],
  'public-feeds.retention': [],
  'accounts.clean-up': [],
  'accounts.delete-workspaces': [],
  'alerts.clean-up': [],
  'delisting.tend': ['query of 7.113.0.203'],
  'digest.send': ['mail to olivia@people.test'],
  'digest.sweep': [],
  'dmarc.clean-up': [],
  'dmarc.fetch': [],
  'dmarc.fetch-mailbox': ['report mailbox'],
  'dmarc.index-records': [],
  'dmarc.names': [],
  'dmarc.new-senders': [],
  'dmarc.selector-days': [],
  'dmarc.silence': [],
  'dmarc.verify': ['query of verified'],
  'dmarc.watch': [],
  'domains.check': ['query of checked'],
  'domains.complete-watches': ['query of completed'],
  'domains.sweep': ['query of swept'],
  'mail-credentials.clean-up': [],
  'deliverability.check-canaries': [],
  'deliverability.complaint-rates': [],
  'deliverability.ending-accesses': [],
  'deliverability.fetch-statistics': ['SNDS', 'query of login.microsoftonline.com'],
  'deliverability.send-canaries': [],
  'mail-tests.pick-up': [],
  'mail-tests.recover': [],
  'mail-credentials.clients': ['query of accounts.google.com'],
  'mail-credentials.recheck': ['query of login.microsoftonline.com'],
  'migration.abandoned': [],
  'migration.batches': ['mailbox of a batch'],
  'migration.cutover': ['query of switched'],
  'migration.proof': ['proof'],
  'migration.run': ['migration'],
  'migration.sync': ['synchronization'],
  'monitoring.sweep': ['query of monitored'],
  'service.retention': [],
  'service.retention-brief': [],
  'webhooks.alerts': [],
  'webhooks.clean-up': [],
}

/** Contacts of background work besides jobs. */
const OTHER_CONTACTS = ['alert', 'forwarded request']

const SECRET_KEY = 'the secret key of the tests of deleted workspaces'
const patience = { timeout: 30_000, interval: 50 }

const contacts = new Set<string>()
const sinks: Server[] = []
const log = createLog(process.env['TEST_LOG'] ?? 'silent')
const undo = new AsyncDisposableStack()

let database: FreshDatabase
let dns: DnsServer
let notifications: Notifications
let modules: Module[]
let jobs: Job[]
let queue: Queue
let workspaceId: string
let running: (() => Promise<void>)[] = []

/** A server that records connections, and hangs up. */
async function sink(
  label: string,
  answer: (socket: Socket) => void = (socket) => socket.destroy(),
): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    if (label !== '') contacts.add(label)
    answer(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  sinks.push(server)
  return (server.address() as AddressInfo).port
}

/** The relay of the installation: it records recipients, and refuses them. */
function refuseRecipients(socket: Socket): void {
  socket.write('220 relay.test\r\n')
  socket.on('data', (bytes) => {
    const [command = ''] = bytes.toString().split('\r\n')
    const [, recipient] = /^RCPT TO:<([^>]+)>/i.exec(command) ?? []
    if (recipient) contacts.add(`mail to ${recipient}`)
    socket.write(recipient ? '550 no\r\n' : '250 ok\r\n')
  })
}

/** Names in DNS by the first label, of `contact.test`; others as they are. */
function asContact(name: string): string {
  const lower = name.toLowerCase()
  const [, ours] = /(?:^|\.)([\w-]+)\.contact\.test$/.exec(lower) ?? []
  return `query of ${ours ?? (lower.startsWith('7.113.0.203.') ? '7.113.0.203' : lower)}`
}

/** All contacts until now, apart from those of the installation itself. */
const seen = () => [...contacts, ...dns.queries.map(({ name }) => asContact(name))]

function forget(): void {
  contacts.clear()
  dns.queries.splice(0)
}

beforeAll(async () => {
  dns = await startDns()
  database = await freshDatabase()
  const relay = await sink('', refuseRecipients)
  const config = readConfig({
    DATABASE_URL: database.url,
    SECRET_KEY,
    BASE_URL: 'http://127.0.0.1:1',
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8,::1',
    FORWARD_PRIVATE_TARGETS: '127.0.0.0/8',
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${dns.port}`,
    SMTP_URL: `smtp://127.0.0.1:${relay}`,
    MAIL_FROM: 'portreeve@relay.test',
    SMTP_LISTEN: 'off',
    OAUTH_GOOGLE_CLIENT_ID: 'client',
    OAUTH_GOOGLE_CLIENT_SECRET: 'secret',
  })
  const { db, pool } = database
  notifications = await openNotifications(database.url, log)
  const providerOrigins = new Map([
    ['https://api.abuseipdb.com', `http://127.0.0.1:${await sink('relay')}`],
    ['https://substrate.office.com', `http://127.0.0.1:${await sink('SNDS')}`],
  ])
  const context = {
    config,
    trustedProxies: [],
    log,
    db,
    pool,
    notifications,
    secretKey: SECRET_KEY,
    metrics: null,
  }
  const created = await createModules(
    { ...context, alertOrigins: undefined, providerOrigins },
    undo,
  )
  modules = created.all
  const retention = modules.flatMap((module) => module.retention ?? [])
  jobs = [...modules.flatMap((module) => module.jobs ?? []), ...retentionJobs(db, retention)]
  queue = await openQueue({ pool, jobs, log })
  const email = 'olivia@people.test'
  const account = {
    email,
    password: 'p',
    name: 'Olivia',
    plan: 'enterprise',
    admin: false,
  } as const
  workspaceId = (await addAccount(db, account)).id
  await fill()
})

afterAll(async () => {
  await stopWork()
  await queue?.close()
  await undo.disposeAsync()
  await notifications?.close()
  for (const server of sinks) server.close()
  await dns?.close()
  await database?.drop()
})

const WORK = ['migration.run', 'migration.proof', 'dmarc.fetch-mailbox', 'digest.send']

/** Starts the worker and the other background work of one instance. */
function startWork(): void {
  const worker: Worker = startWorker({ queue, jobs, notifications, log })
  running = [() => worker.stop(500)]
  for (const module of modules) if (module.startWork) running.push(module.startWork())
}

async function stopWork(): Promise<void> {
  await Promise.all(running.splice(0).map((stop) => stop()))
}

/** Enqueues every scheduled job now. */
async function enqueueAll(): Promise<void> {
  for (const job of jobs) if (job.schedule !== undefined) await queue.enqueue(database.db, job, {})
}

async function countOpenJobs(): Promise<number> {
  const { rows } = await database.pool.query(
    `select count(*)::int as count from pgboss.job where state <= 'active' and start_after <= now()
      and name not like '\\_\\_pgboss%'`,
  )
  return rows[0].count
}

/** Makes rows that are due for each of the jobs. */
async function fill(): Promise<void> {
  const { db, pool } = database
  const insert = async (table: string, columns: Record<string, unknown>): Promise<string> => {
    const names = Object.keys(columns)
    const places = names.map((_, index) => `$${index + 1}`)
    const { rows } = await pool.query(
      `insert into ${table} (${names.join(', ')}) values (${places.join(', ')}) returning *`,
      Object.values(columns),
    )
    return rows[0].id
  }
  const past = new Date(Date.now() - 86_400_000)
  const later = new Date(Date.now() + 86_400_000)
  const workspace_id = workspaceId

  const addressOf = (port: number) => ({
    host: '127.0.0.1',
    port,
    secure: false,
    user: 'olivia',
    tlsVerify: true,
  })
  const migrationOf = async (label: string, status: string) => {
    const port = await sink(label)
    const row = {
      workspaceId,
      source: addressOf(port),
      destination: addressOf(port),
      destPrefix: '',
      folders: ['INBOX'],
      options: { deduplicate: false, allMailOnce: false, dryRun: false, folderMap: {} },
      progress: noProgress(['INBOX']),
    }
    const secrets = { source: { password: 'p' }, destination: { password: 'p' } }
    return db.transaction().execute(async (trx) => {
      const id = await insertMigration(trx, row, (made) =>
        encryptSecrets(secrets, SECRET_KEY, made),
      )
      await trx.updateTable('migration').set({ status }).where('id', '=', id).execute()
      return id
    })
  }
  const jobOf = (name: string) => jobs.find((job) => job.name === name) as Job
  const migrationId = await migrationOf('migration', 'pending')
  await queue.enqueue(db, jobOf('migration.run'), { migrationId, workspaceId })

  const synchronized = await migrationOf('synchronization', 'completed')
  await insert('migration_sync', {
    migration_id: synchronized,
    workspace_id,
    deletions: 'record',
    every_minutes: 5,
    next_at: past,
    until: later,
    seen: 'other',
  })
  const proven = await migrationOf('proof', 'completed')
  await requestProofs(db, [proven], { workspaceId, level: 'headers' })
  await queue.enqueue(db, jobOf('migration.proof'), { migrationId: proven, workspaceId })

  const batch_id = await insert('migration_batch', {
    workspace_id,
    name: 'Batch',
    options: JSON.stringify({
      specialUse: true,
      deduplicate: false,
      allMailOnce: false,
      destPrefix: '',
      folderMap: {},
    }),
    source_limit: 1,
    destination_limit: 1,
  })
  const account = JSON.stringify(addressOf(await sink('mailbox of a batch')))
  const mailbox_id = await insert('batch_mailbox', {
    batch_id,
    line: 1,
    source: account,
    destination: account,
    state: 'queued',
    queued_at: past,
  })
  const passwords = { source: 'p', destination: 'p' }
  await pool.query('insert into batch_mailbox_secret (mailbox_id, sealed) values ($1, $2)', [
    mailbox_id,
    encryptPasswords(passwords, SECRET_KEY, mailbox_id),
  ])
  await insert('migration_cutover', {
    workspace_id,
    batch_id,
    domain: 'switched.contact.test',
    expected_mx: ['mx.example.test'],
    proof_level: 'headers',
    quiet_hours: 1,
    target_ttl: 300,
    next_check_at: past,
  })

  const mailbox = await insert('dmarc_mailbox', {
    workspace_id,
    host: '127.0.0.1',
    port: await sink('report mailbox'),
    secure: false,
    username: 'olivia',
    tls_verify: true,
    folder: 'INBOX',
  })
  await pool.query('update dmarc_mailbox set sealed = $2 where id = $1', [
    mailbox,
    encrypt('p', SECRET_KEY, encryptionContext(mailbox)),
  ])
  await insertDomain(db, {
    workspaceId,
    domain: 'verified.contact.test',
    mailbox: 'raaaaaaaaaaaaaaaaa',
    challenge: 'challenge',
  })
  await insert('monitored_host', { workspace_id, host: 'monitored.contact.test' })
  const watched = { workspace_id, hosts: ['192.0.2.1'], records_at: later, check_due_at: later }
  for (const [domain, due] of Object.entries({
    'checked.contact.test': { check_due_at: past },
    'swept.contact.test': { records_at: null },
    'completed.contact.test': { hosts: [] },
  }))
    await insert('watched_domain', { ...watched, domain, ...due })

  const process_id = await insert('delisting_process', {
    workspace_id,
    ip: '203.0.113.7',
    asked_count: 1,
    created_at: past,
    not_pursued: '[]',
    unknown_count: 0,
  })
  const answer = JSON.stringify({
    status: 'listed',
    at: past.toISOString(),
    codes: [],
    meanings: [],
    reason: null,
    detail: null,
    health: 'healthy',
  })
  await insert('delisting_step', {
    process_id,
    zone: 'zen.spamhaus.org',
    name: 'Spamhaus',
    category: 'spam',
    method: 'automatic',
    plan: '{}',
    rank: 1,
    confirmed: true,
    first_answer: answer,
    last_answer: answer,
    next_at: past,
  })

  await pool.query(
    `insert into digest_subscription (workspace_id, account_id, frequency, hour, time_zone, weekday, due_at, attempt_at)
    values ($1, $1, 'daily', 7, 'UTC', 1, $2, $2)`,
    [workspaceId, past],
  )
  await changeRelay(
    { db, secretKey: SECRET_KEY },
    { workspaceId, service: 'abuseipdb' },
    { key: 'a'.repeat(80) },
  )
  const links = { data: 'https://substrate.office.com/SNDS/DataKey?key=1', status: null }
  const sealed = encryptLinks(links, SECRET_KEY, workspaceId)
  await saveSndsAccess(db, workspaceId, { sealed, approvedOn: null })
  const signIn = newUuid()
  await insertCredential(db, {
    id: signIn,
    workspaceId,
    provider: 'microsoft',
    purpose: 'snds',
    account: 'olivia@outlook.test',
    subject: 'olivia',
    sealed: encryptTokens({ accessToken: 'access', refreshToken: 'refresh' }, SECRET_KEY, signIn),
    lifetimeSeconds: 0,
    keepDays: 30,
    createdBy: workspaceId,
  })
  // Beside the links, which `saveSndsSignIn` would replace.
  await insert('snds_sign_in', { workspace_id: workspaceId, credential_id: signIn, account: 'o' })
  await pool.query(
    `insert into relayed_report (relay_id, address, count, services, reported_at, due_at)
    select id, '203.0.113.8', 1, '{ssh}', now(), $1 from relay`,
    [past],
  )
  await pool.query(
    `insert into abuse_mail_settings (workspace_id, mode, contact) values ($1, 'on', 'olivia@people.test')`,
    [workspaceId],
  )
  const day = past.toISOString().slice(0, 10)
  const mail_id = await insert('abuse_mail', {
    workspace_id,
    day,
    recipient: 'abuse@provider.test',
    network: '203.0.113.0/24',
    is_test: false,
    due_at: past,
  })
  await pool.query(
    `insert into abuse_mail_report (workspace_id, day, address, count, services, first_at, last_at, mail_id)
    values ($1, $2, '203.0.113.9', 1, '{ssh}', $3, $3, $4)`,
    [workspaceId, day, past, mail_id],
  )
  const channel_id = await insert('alert_channel', {
    workspace_id,
    type: 'webhook',
    target: `http://127.0.0.1:${await sink('alert')}/`,
    confirmed_at: past,
  })
  await pool.query('update alert_channel set secret = $2 where id = $1', [
    channel_id,
    encrypt('whsec_c2VjcmV0', SECRET_KEY, secretContext(channel_id)),
  ])
  await insert('alert_message', { channel_id, collecting: false, due_at: past, summarises: 3 })
  const endpoint = await insertEndpoint(database.db, { workspaceId, token: newEndpointToken() })
  const destination_id = newDestinationId()
  const url = `http://127.0.0.1:${await sink('forwarded request')}/`
  const settings = { url, headers: [], secret: newDestinationSecret(), previous: null }
  await insertDestination(database.db, {
    id: destination_id,
    endpointId: endpoint.id,
    workspaceId,
    target: url,
    sealed: seal(destination_id, settings, SECRET_KEY),
  })
  const request_id = newUuid()
  await pool.query(
    `insert into webhook_request (id, endpoint_id, method, path, query, headers, ip, body, body_size, received_at,
      duration_ms, http_version, preflight, aborted)
     values ($1, $2, 'POST', '', '', '[]', '192.0.2.1', '', 0, now(), 0, '1.1', false, false)`,
    [request_id, endpoint.id],
  )
  const delivery = { destination_id, endpoint_id: endpoint.id, request_id, state: 'waiting' }
  await insert('webhook_delivery', delivery)

  const [app, person] = [newUuid(), newUuid()]
  const credential = { workspaceId, subject: null, createdBy: workspaceId, keepDays: 30 }
  const named = { tenant: 'contact.test', clientId: 'client', clientSecret: 'secret' }
  await insertCredential(db, {
    ...credential,
    id: app,
    provider: 'microsoft',
    kind: 'app',
    account: 'Microsoft',
    clientId: 'client',
    certificate: null,
    sealed: encryptAdministrator({ kind: 'app', app: named }, SECRET_KEY, app),
  } as never)
  await pool.query(`update mail_credential set problem = 'rejected' where id = $1`, [app])
  const tokens = { accessToken: 'access', refreshToken: 'refresh' }
  await insertCredential(db, {
    ...credential,
    id: person,
    provider: 'google',
    account: 'olivia@gmail.test',
    sealed: encryptTokens(tokens, SECRET_KEY, person),
  } as never)
  await rejectClient()
}

/** The client of this service at Google is rejected, and was not checked lately. */
async function rejectClient(): Promise<void> {
  const provider = {
    issuer: 'https://accounts.google.com',
    clientId: 'client',
    clientSecret: 'secret',
  }
  await database.pool.query(
    `insert into mail_client_problem (provider, fingerprint, problem, checked_at)
    values ('google', $1, 'rejected', now() - interval '1 day')
    on conflict (provider) do update set checked_at = excluded.checked_at`,
    [fingerprintOf(provider as MailProvider)],
  )
}

/** Queries that claim or list work, and why they need not know about deleted workspaces. */
const NOT_OF_WORKSPACES: Record<string, string> = {
  'abuse/candidates/candidates listCandidates': 'addresses are of the installation',
  'exchange/federation/peers/peers claimDuePeers': 'peers are of the installation',
  'public-feeds/public-feeds claimDueFeed': 'feeds are of the installation',
  'abuse/attack-list lockDueAddresses': 'addresses are of the installation',
  'exchange/relays/relays claimReports': 'of the relay that `claimRelay` has claimed',
  'abuse/tokens/report-tokens listUncountedTokens': 'counts rows, contacts nothing',
  'accounts/secrets/secrets claimSecret': 'secrets are of accounts',
  'accounts/workspaces/workspaces listExpiredWorkspaces': 'lists deleted workspaces',
  'alerts/delivery/claimed-messages claimMessages': '`takeMessage` does',
  'alerts/silence/links/silence-links claimLink': 'after `findLinkTarget`',
  'delisting/steps/delisting-steps claimUnnotified': 'of the processes of `listUnnotified`',
  'digest/digest-subscriptions claimDigest': 'the job is held (`workspaceOf`)',
  'digest/digest-subscriptions listUncertain': 'ends digests, sends none',
  'dmarc/dmarc-digest listUnprovenDomains': 'for one workspace',
  'dmarc/domains/dmarc-domains listUnverified': 'for one workspace',
  'dmarc/intake/report-intake listRejectedFor': 'for one workspace',
  'dmarc/names/source-names listUnnamedAddresses':
    'names of addresses are shared by all workspaces',
  'dmarc/reports/dmarc-reports listRejected': 'for one workspace',
  'dmarc/sources/dmarc-sources indexRecords': 'indexes rows, contacts nothing',
  'dmarc/usage/report-usage claimSamples': 'for one workspace',
  'dmarc/usage/report-usage listRejectedToday': 'for one workspace',
  'migration/consent/migration-consents listWaitingFor': 'for one workspace',
  'migration/owner-links/owner-links claimLink': 'after the link was found',
  'migration/proof/proofs claimProof': 'the job is held (`workspaceOf`)',
  'migration/run/migration-runs claimMigration': 'the job is held (`workspaceOf`)',
  'monitoring/checks/host-checks claimHost': 'for a request of a member',
  'monitoring/monitoring-digest listUncheckedHosts': 'for one workspace',
}

const CLAIMS =
  /^(claim|listDue|listUn|listIncomplete|listCandidates|listRejected|listExpired|listAbandoned|listIdle)/

/** The queries of all stores that claim or list work without looking at the workspace. */
function findUnguarded(): string[] {
  return globSync('src/**/*.sql.ts').flatMap((file) => {
    const parts = readFileSync(file, 'utf8').split(
      /\n(?=\/\*\*|(?:export )?(?:async )?(?:function|const|type) )/,
    )
    const nameIn = (part: string, kind: string) =>
      new RegExp(`^(?:export )?(?:async )?${kind} (\\w+)`, 'm').exec(part)?.[1] ?? ''
    const constants = parts.filter((part) => nameIn(part, 'const') !== '')
    return parts.flatMap((part) => {
      const name = nameIn(part, 'function')
      if (name === '' || !(CLAIMS.test(name) || /skip ?locked/i.test(part))) return []
      const used = constants.filter((each) =>
        new RegExp(`\\b${nameIn(each, 'const')}\\b`).test(part),
      )
      const guarded = /isInDeletedWorkspace\(|\b(dueInTurn|lockDueRows|claimDueRows)\b/
      const isOfInstallation = used.some((text) => text.includes('workspace: null'))
      if (!isOfInstallation && [part, ...used].some((text) => guarded.test(text))) return []
      return [`${file.slice('src/'.length, -'.sql.ts'.length)} ${name}`]
    })
  })
}

describe('a deleted workspace', () => {
  it('is known to every query that claims work', () => {
    expect(findUnguarded().toSorted()).toEqual(Object.keys(NOT_OF_WORKSPACES).toSorted())
  })

  it('is known to every job', () => {
    expect(jobs.map(({ name }) => name).toSorted()).toEqual(Object.keys(CONTACTS).toSorted())
    // These run for one workspace each, and do not run while it is deleted.
    const single = jobs.filter((job) => job.workspaceOf?.({ workspaceId }) === workspaceId)
    expect(single.map(({ name }) => name).toSorted()).toEqual(WORK.toSorted())
    const ofAccounts = jobs.filter((job) => job.accountOf !== undefined)
    expect(ofAccounts.map(({ name }) => name).toSorted()).toEqual(WORK.toSorted())
  })

  it('contacts nobody, and continues at once when it is restored', async () => {
    await deleteWorkspace(database.db, workspaceId, 'Olivia', null)
    forget()
    await enqueueAll()
    startWork()
    const progress = async () => ({ openJobs: await countOpenJobs(), contacts: seen() })
    await expect.poll(progress, patience).toEqual({ openJobs: 0, contacts: [] })

    await restoreWorkspace(database.db, workspaceId, null)
    await rejectClient()
    await enqueueAll()
    const expected = [...Object.values(CONTACTS).flat(), ...OTHER_CONTACTS]
    await expect.poll(seen, patience).toEqual(expect.arrayContaining(expected))
  })
})
