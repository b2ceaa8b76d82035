import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_SERVERS } from '../../src/fleet/limits.ts'
import { listJournal } from '../../src/abuse/peer-evidence/evidence-journal.sql.ts'
import { readEvents } from '../../src/net/http/event-stream.ts'
import { BATCH_LIMITS } from '../../src/migration/batches/limits.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { cookieOf } from '../accounts/module.ts'
import { aggregate } from '../dmarc/reports.ts'
import { itAlone } from '../scaled/alone.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { fillEveryTable } from '../store/old-rows.ts'
import { PRESENTABLE } from '../store/presentable.ts'

/** Rows of each list. They have the same millisecond in their ids and in their other times. */
const ROWS = 1_000
const NUMBERS = Array.from({ length: ROWS }, (_none, index) => index + 1)

/** The order of a list: of its rows, `n` is the number in which they were made. */
type RowOrder = 'newest' | 'oldest'
type Row = Record<string, unknown>
type List = {
  path: string
  /** The table of which a row is copied, and the columns that differ from it, as SQL of `n`. */
  table?: string
  row?: Record<string, string>
  /** A query for the values of the parameters in the path. */
  id?: string
  query?: string
  order: RowOrder
  /** The field that tells the rows apart, and its value. */
  key?: string
  keyOf?: (n: number) => unknown
  /** Rows that the list is limited to. */
  limit?: number
  /** Rows that the product allows, if they are more than a thousand. */
  most?: number
  /** Values of `sort` by which the rows differ, with their ascending order. In others they are equal. */
  sorted?: Record<string, RowOrder>
  /** Reads the rows otherwise than by page or at once. */
  read?: (path: string) => Promise<Row[]>
}

const hex = (n: number) => n.toString(16).padStart(3, '0')
/** The id of the row `n`; of several lists in one table, each has a variant. */
const idOf = (n: number, variant = 0) => `019a9d2e-90aa-7${hex(n)}-8000-00000000000${variant}`
const ipOf = (n: number) => `9.9.${n >> 8}.${n & 255}`
const padded = (n: number) => String(n).padStart(4, '0')

/** The same in SQL. */
const idInSql = (variant = 0) =>
  `('019a9d2e-90' || to_hex(170 + (n >> 12)) || '-7' || lpad(to_hex(n & 4095), 3, '0') || '-8000-00000000000${variant}')`
const ID = idInSql()
const IP = `('9.9.' || (n >> 8) || '.' || (n & 255))`
const PADDED = `lpad(n::text, 4, '0')`
const BYTES = `('\\x' || lpad(to_hex(n), 64, '0'))`
const LATER = `now() + interval '1 day'`

const one = (table: string) => `select id from ${table} limit 1`
const ALICE = `select id from account where email = 'alice@people.test'`

const accounts = {
  table: 'account',
  row: { email: `'p' || ${PADDED} || '@people.test'`, admin: 'false', plan: `'free'` },
  sorted: { createdAt: 'oldest', email: 'oldest' },
  order: 'oldest',
} as const
const reports = {
  table: 'dmarc_report',
  row: { key: BYTES },
  id: one('dmarc_domain'),
  order: 'newest',
} as const
const ofAlice = { workspace_id: `(${ALICE})` }
const audit = { table: 'audit_entry', order: 'newest' } as const
/** The records of one report, in its order. */
const records = { key: 'count', keyOf: (n: number) => n, order: 'oldest' } as const
const captures = {
  table: 'webhook_request',
  row: { seq: 'n + 10' },
  id: one('webhook_endpoint'),
} as const
const range = (kind: string, variant: number) => ({
  table: 'abuse_range',
  row: { kind: `'${kind}'`, cidr: IP, id: idInSql(variant) },
  keyOf: (n: number) => idOf(n, variant),
  order: 'oldest' as const,
})

const LISTS: List[] = [
  { path: '/api/v1/accounts', ...accounts },
  { path: '/api/v1/accounts/usage', ...accounts, key: 'accountId' },
  {
    path: '/api/v1/workspaces/{workspaceId}/members',
    table: 'membership',
    row: { account_id: ID },
    id: ALICE,
    order: 'oldest',
    key: 'accountId',
  },
  { path: '/api/v1/accounts/workspaces', table: 'workspace', order: 'oldest' },
  {
    path: '/api/v1/workspaces',
    table: 'membership',
    row: { workspace_id: ID },
    order: 'oldest',
  },
  {
    path: '/api/v1/workspaces/{workspaceId}/invitations',
    table: 'invitation',
    row: { hash: BYTES, email: `'i' || ${PADDED} || '@people.test'`, expires_at: LATER },
    id: ALICE,
    order: 'newest',
  },
  { path: '/api/v1/tokens', table: 'api_token', row: { hash: BYTES }, order: 'newest' },
  {
    path: '/api/v1/account/passkeys',
    table: 'passkey',
    row: { credential_id: `'c' || n`, account_id: `(${ALICE})` },
    order: 'oldest',
  },
  { path: '/api/v1/audit', ...audit, row: { workspace_id: 'null' } },
  {
    path: '/api/v1/workspaces/{workspaceId}/audit',
    ...audit,
    row: { ...ofAlice, id: idInSql(1) },
    id: ALICE,
    keyOf: (n) => idOf(n, 1),
  },

  {
    path: '/api/v1/alerts',
    table: 'alert',
    row: { key: `'k' || n` },
    order: 'newest',
  },
  {
    path: '/api/v1/alerts/incidents',
    table: 'alert_incident',
    row: { key: `'k' || n`, resolved_at: 'null' },
    order: 'newest',
  },
  {
    path: '/api/v1/alerts/channels',
    table: 'alert_channel',
    row: { target: `'t' || n` },
    order: 'oldest',
  },
  { path: '/api/v1/alerts/rules', table: 'alert_rule', order: 'oldest' },
  {
    path: '/api/v1/alerts/mutes',
    table: 'alert_mute',
    row: { object: `'o' || n`, kind: 'null', ends_at: LATER },
    order: 'newest',
  },

  {
    path: '/api/v1/imap/migrations',
    table: 'migration',
    row: { batch_id: 'null', status: `'completed'` },
    key: 'migrationId',
    sorted: { createdAt: 'oldest' },
    order: 'newest',
  },
  { path: '/api/v1/imap/batches', table: 'migration_batch', order: 'newest' },
  {
    path: '/api/v1/imap/batches/{id}/mailboxes',
    table: 'batch_mailbox',
    row: { position: 'n + 10', state: `'invalid'` },
    most: BATCH_LIMITS.maxMailboxes,
    id: one('migration_batch'),
    sorted: { line: 'oldest' },
    order: 'oldest',
  },
  {
    path: '/api/v1/imap/batches/{id}/owner-links',
    table: 'owner_link',
    row: { mailbox_id: ID, migration_id: 'null', hash: BYTES, owner_hash: BYTES, side: `'source'` },
    most: BATCH_LIMITS.maxMailboxes,
    id: one('migration_batch'),
    order: 'oldest',
  },
  {
    path: '/api/v1/imap/migrate/{id}/sync/passes',
    table: 'migration_pass',
    row: { id: 'n + 10', error: PADDED },
    id: one('migration'),
    key: 'error',
    keyOf: padded,
    limit: 100,
    order: 'newest',
  },
  {
    path: '/api/v1/imap/credentials',
    table: 'mail_credential',
    row: { is_owners: 'false' },
    order: 'oldest',
  },

  {
    path: '/api/v1/delisting/status',
    table: 'delisting_process',
    row: { status: `'completed'` },
    sorted: { createdAt: 'oldest' },
    order: 'newest',
  },
  {
    path: '/api/v1/monitoring/hosts',
    table: 'monitored_host',
    row: { host: `'h' || ${PADDED} || '.test'` },
    sorted: { createdAt: 'oldest', host: 'oldest' },
    order: 'oldest',
  },
  {
    path: '/api/v1/monitoring/hosts/{id}/history',
    table: 'monitored_event',
    row: { id: 'n + 10', name: PADDED },
    id: `select id from monitored_host where host = '9.9.9.9'`,
    key: 'name',
    keyOf: padded,
    order: 'newest',
  },
  {
    path: '/api/v1/domains',
    query: 'watched=true',
    table: 'watched_domain',
    row: { domain: `'d' || ${PADDED} || '.test'` },
    key: 'domain',
    keyOf: (n) => `d${padded(n)}.test`,
    sorted: { domain: 'oldest' },
    order: 'oldest',
  },
  {
    path: '/api/v1/canaries/{id}/results',
    table: 'canary_result',
    id: one('canary'),
    order: 'newest',
  },
  {
    path: '/api/v1/mail-tests',
    table: 'mail_test',
    row: { token: PADDED, share_token: 'null' },
    order: 'newest',
  },
  {
    path: '/api/v1/shared-checks',
    table: 'shared_check',
    row: { token: `repeat('a', 20) || ${PADDED}`, expires_at: LATER },
    key: 'token',
    keyOf: (n) => 'a'.repeat(20) + padded(n),
    order: 'oldest',
  },

  {
    path: '/api/v1/dmarc/domains',
    table: 'dmarc_domain',
    row: { domain: `'d' || ${PADDED} || '.test'`, mailbox: `'m' || n` },
    order: 'oldest',
  },
  {
    path: '/api/v1/dmarc/domains/{id}/reports',
    ...reports,
    sorted: { receivedAt: 'oldest' },
  },
  {
    path: '/api/v1/dmarc/domains/{id}/tls-reports',
    ...reports,
    table: 'dmarc_tls_report',
  },
  {
    path: '/api/v1/dmarc/domains/{id}/reports/{reportId}/records',
    ...records,
    id: `select domain_id, id from dmarc_report where record_count = ${ROWS}`,
    // Pages of 500, the first of which is part of the report.
    read: async (path) => [
      ...rowsIn(await ask(`${path}?page=1`)),
      ...rowsIn(await ask(`${path}?page=2`)),
    ],
  },
  {
    path: '/api/v1/dmarc/domains/{id}/sources/{address}/records',
    ...records,
    id: `select domain_id, '192.0.2.55' from dmarc_report where record_count = ${ROWS}`,
  },
  { path: '/api/v1/canaries', table: 'canary', order: 'oldest' },
  { path: '/api/v1/dmarc/mailboxes', table: 'dmarc_mailbox', order: 'oldest' },
  { path: '/api/v1/dmarc/rejected', table: 'dmarc_set_aside', order: 'newest' },

  {
    path: '/api/v1/abuse/tokens',
    table: 'abuse_token',
    row: { hash: BYTES, can_report: 'true' },
    order: 'newest',
  },
  {
    path: '/api/v1/abuse/fleet/keys',
    table: 'abuse_token',
    row: {
      id: idInSql(1),
      hash: `('\\xff' || lpad(to_hex(n), 62, '0'))`,
      can_report: 'false',
      reads_fleet: 'true',
    },
    keyOf: (n) => idOf(n, 1),
    order: 'newest',
  },
  { path: '/api/v1/abuse/whitelist', ...range('whitelist', 0) },
  { path: '/api/v1/abuse/sensors', ...range('sensor', 1) },
  {
    path: '/api/v1/abuse/appeals',
    table: 'abuse_appeal',
    row: { address: IP, status: `'open'` },
    order: 'newest',
  },
  {
    path: '/api/v1/abuse/candidates',
    table: 'abuse_address',
    row: {
      address: IP,
      confirmation: `'awaiting'`,
      state: `'observed'`,
      last_reported_at: 'now()',
    },
    key: 'address',
    keyOf: ipOf,
    order: 'oldest',
  },
  {
    path: '/api/v1/abuse/peers',
    table: 'federation_peer',
    row: { url: `'https://p' || ${PADDED} || '.test'`, public_key: `'k' || n` },
    order: 'oldest',
  },
  {
    path: '/api/v1/abuse/relays/reports',
    table: 'relayed_report',
    row: { state: `'sent'` },
    order: 'newest',
  },
  { path: '/api/v1/abuse/mails', table: 'abuse_mail', row: { state: `'sent'` }, order: 'newest' },
  {
    path: '/api/v1/abuse/mails/opt-outs',
    table: 'abuse_mail_opt_out',
    row: { hash: BYTES },
    keyOf: (n) => n.toString(16).padStart(64, '0'),
    order: 'newest',
  },
  {
    path: '/api/v1/abuse/watched-networks',
    table: 'watched_network',
    row: { network: IP },
    order: 'oldest',
  },
  {
    path: '/api/v1/abuse/watched-networks/{id}',
    table: 'watched_finding',
    row: { resolved_at: 'now()' },
    id: `select id from watched_network where network = '8.8.4.0/24'`,
    order: 'oldest',
  },
  {
    path: '/api/v1/abuse/fleet/allowlist',
    table: 'fleet_allowed',
    row: { network: IP },
    order: 'oldest',
  },
  {
    path: '/api/v1/abuse/fleet/bans',
    table: 'fleet_ban',
    row: { address: IP, expires_at: LATER },
    order: 'newest',
  },
  {
    path: '/api/v1/abuse/fleet/history',
    table: 'fleet_change',
    row: { number: 'n + 10', address: IP, kind: `'banned'` },
    key: 'address',
    keyOf: ipOf,
    order: 'newest',
    read: (path) =>
      readByCursor(`${path}?limit=100`, (_answer, last) => `&before=${String(last['number'])}`),
  },
  {
    path: '/api/v1/abuse/fleet/servers',
    table: 'fleet_server',
    row: { address: IP },
    most: MAX_SERVERS,
    key: 'address',
    keyOf: ipOf,
    order: 'oldest',
  },
  {
    path: '/api/v1/abuse/fleet/bouncers',
    table: 'fleet_bouncer',
    row: { address: IP },
    key: 'address',
    keyOf: ipOf,
    order: 'oldest',
  },
  // Read through its function: the route answers to signed requests of peers only.
  {
    path: '/api/v1/abuse/federation/evidence',
    table: 'federation_journal',
    row: { number: 'n + 10', address: IP, withdrawn_number: 'null' },
    order: 'oldest',
    read: readJournal,
  },

  {
    path: '/api/webhook/endpoints',
    table: 'webhook_endpoint',
    row: { token: `'token' || lpad(n::text, 5, '0')` },
    order: 'oldest',
  },
  {
    path: '/api/webhook/endpoints/{id}/requests',
    ...captures,
    order: 'newest',
    read: (path) =>
      readByCursor(
        `${path}?limit=100`,
        ({ nextCursor }) => typeof nextCursor === 'string' && `&cursor=${nextCursor}`,
      ),
  },
  {
    path: '/api/webhook/endpoints/{id}/requests',
    ...captures,
    query: 'order=asc',
    order: 'oldest',
    read: (path) =>
      readByCursor(
        `${path}&limit=100`,
        ({ nextCursor }) => typeof nextCursor === 'string' && `&cursor=${nextCursor}`,
      ),
  },
  {
    path: '/api/webhook/endpoints/{id}/events',
    ...captures,
    order: 'oldest',
    read: readEventStream,
  },
]

/** Lists that are not tested here, and why. */
const OTHERS: Record<string, string> = {
  '/api/webhook/endpoints/{id}/deliveries':
    'by number, as requests: test/webhooks/forwarding.test.ts',
  '/api/webhook/endpoints/{id}/deliveries/{deliveryId}': 'the newest 50 attempts, by number',
  '/api/webhook/endpoints/{id}/destinations': 'up to 10',
  '/api/webhook/endpoints/{id}/replays': 'the newest 20',
  '/api/webhook/endpoints/{id}/rules': 'up to 20, in the order that their owner chose',
  '/api/webhook/endpoints/{id}/shares': 'up to 20, newest first',
  '/api/auth/list-sessions': 'a few rows of the sign-in library, in no order',
  '/api/v1/abuse/check': 'public feeds, in the order of their catalogue',
  '/api/v1/abuse/export': 'a set of addresses with a version',
  '/api/v1/abuse/feeds': 'a fixed catalogue',
  '/api/v1/abuse/fleet/events': 'a set of addresses as of a cursor',
  '/api/v1/abuse/fleet/list': 'a set of addresses as of a cursor',
  '/api/v1/abuse/report': 'a fixed catalogue',
  '/api/v1/addresses/{ip}': 'up to 100 rows of each kind, which belong to one address',
  '/api/v1/alerts/channel-types': 'a fixed catalogue',
  '/api/v1/delisting/{id}': 'the steps of one delisting, by rank',
  '/api/v1/dmarc/domains/{id}/senders/daily': 'totals, by number of messages and name',
  '/api/v1/dmarc/domains/{id}/summary': 'totals, by number of messages and name',
  '/api/v1/imap/batches/{id}/events': 'the mailboxes that changed, in no order',
  '/api/v1/imap/migrate/{id}/owner-links': 'up to one of each side',
  '/api/v1/imap/oauth/providers': 'a fixed catalogue',
  '/api/v1/monitoring/timeline': 'some hosts, by state and name',
  '/api/v2/blacklist': 'the worst addresses of a set, by score and address',
  '/api/v2/reports': 'parts of the evidence of one address, which one row has',
  '/v1/decisions': 'a set of addresses',
  '/v1/decisions/stream': 'a set of addresses as of a cursor',
}

/** Routes that return no list with pages and none of those above, and why no answer is long. */
const WITHOUT_PAGES: Record<string, string> = {
  '/api/auth/get-session': 'one session',
  '/api/auth/list-sessions': 'up to 100 sessions',
  '/api/v1/abuse/badges/{file}': 'one image',
  '/api/v1/abuse/check': 'the evidence of one address, which one row has',
  '/api/v1/abuse/export': 'a packed file, sent in parts',
  '/api/v1/abuse/export/hold': 'one state',
  '/api/v1/abuse/fail2ban-config': 'a fixed text',
  '/api/v1/abuse/fail2ban-install': 'a fixed text',
  '/api/v1/abuse/federation': 'one key',
  '/api/v1/abuse/feeds': 'a fixed catalogue',
  '/api/v1/abuse/fleet': 'settings, with up to 20 rules',
  '/api/v1/abuse/fleet/events': 'events',
  '/api/v1/abuse/fleet/export': 'a packed file, sent in parts',
  '/api/v1/abuse/fleet/list': 'a text, sent in parts',
  '/api/v1/abuse/fleet/metrics': 'up to 200 series',
  '/api/v1/abuse/fleet/misp/hashes.csv': 'sent in parts',
  '/api/v1/abuse/fleet/misp/manifest.json': 'sent in parts',
  '/api/v1/abuse/fleet/misp/{uuid}.json': 'sent in parts',
  '/api/v1/abuse/mails/settings': 'settings',
  '/api/v1/abuse/mails/{id}': 'one email, with up to 2,000 addresses',
  '/api/v1/abuse/misp/hashes.csv': 'sent in parts',
  '/api/v1/abuse/misp/manifest.json': 'sent in parts',
  '/api/v1/abuse/misp/{uuid}.json': 'sent in parts',
  '/api/v1/abuse/networks': 'up to 24 networks',
  '/api/v1/abuse/relays': 'a fixed catalogue',
  '/api/v1/abuse/report': 'a fixed catalogue',
  '/api/v1/abuse/stats': 'totals',
  '/api/v1/abuse/tokens/{token}': 'totals',
  '/api/v1/account': 'one account',
  '/api/v1/account/export': 'a file, sent in parts',
  '/api/v1/account/reauthenticate': 'one state',
  '/api/v1/account/sign-in-methods': 'a few methods',
  '/api/v1/account/usage': 'totals',
  '/api/v1/addresses/{ip}': 'one address, with up to 100 rows of each kind',
  '/api/v1/alerts/channel-types': 'a fixed catalogue',
  '/api/v1/alerts/incidents/{id}': 'one incident',
  '/api/v1/alerts/labels': 'up to 500 labels',
  '/api/v1/blacklist-check': 'a check',
  '/api/v1/blacklist-check/events': 'events',
  '/api/v1/delisting/{id}': 'one process',
  '/api/v1/digest': 'settings',
  '/api/v1/digest/preview': 'one email, with up to 100 rows',
  '/api/v1/dmarc-check': 'a check',
  '/api/v1/dmarc/domains/{id}': 'one domain',
  '/api/v1/dmarc/domains/{id}/reports/{reportId}': 'one report, with up to 500 of its records',
  '/api/v1/dmarc/domains/{id}/reports/{reportId}/raw': 'a file that was received',
  '/api/v1/dmarc/domains/{id}/senders/daily': 'totals',
  '/api/v1/dmarc/domains/{id}/sources/{address}': 'totals',
  '/api/v1/dmarc/domains/{id}/summary': 'totals',
  '/api/v1/dmarc/rejected/{id}/raw': 'a file that was received',
  '/api/v1/dns-check': 'a check',
  '/api/v1/domains/{domain}': 'a check',
  '/api/v1/domains/{domain}/events': 'events',
  '/api/v1/domains/{domain}/history': 'up to 500 events',
  '/api/v1/domains/{domain}/record': 'a check',
  '/api/v1/domains/{domain}/stored': 'a check, up to 200,000 characters',
  '/api/v1/domains/{domain}/watch': 'one domain',
  '/api/v1/events': 'events',
  '/api/v1/imap/batches/{id}': 'one batch, with totals',
  '/api/v1/imap/batches/{id}/cutover': 'one cut-over',
  '/api/v1/imap/batches/{id}/events': 'events',
  '/api/v1/imap/batches/{id}/proof': 'a list that is sent in slices',
  '/api/v1/imap/batches/{id}/proof/file': 'a signed file, two at once',
  '/api/v1/imap/batches/{id}/report.csv': 'sent in parts, two at once',
  '/api/v1/imap/migrate/{id}': 'one migration',
  '/api/v1/imap/migrate/{id}/events': 'events',
  '/api/v1/imap/migrate/{id}/owner-links': 'up to one of each side',
  '/api/v1/imap/migrate/{id}/proof': 'lists that are sent in slices',
  '/api/v1/imap/migrate/{id}/proof/file': 'a signed file, two at once',
  '/api/v1/imap/migrate/{id}/throughput': 'up to 240 points',
  '/api/v1/imap/oauth/clients': 'a fixed catalogue',
  '/api/v1/imap/oauth/consents/{id}': 'one consent',
  '/api/v1/imap/oauth/providers': 'a fixed catalogue',
  '/api/v1/imap/proof-key': 'one key',
  '/api/v1/canaries/{id}/days': 'up to 90 days of 10 seeds',
  '/api/v1/complaints': 'up to 20 providers with 90 days each, and 50 rows of each group',
  '/api/v1/postmaster': 'up to 200 domains',
  '/api/v1/snds': 'up to 50 addresses and 50 ranges',
  '/api/v1/spam-rates': 'up to 90 days of 4 sources, and 500 addresses',
  '/api/v1/mail-tests/{id}': 'up to 3 mails, with 88 findings each',
  '/api/v1/mail-tests/{id}/events': 'events',
  '/api/v1/monitoring/hosts/{id}': 'one host',
  '/api/v1/monitoring/hosts/{id}/timeline': 'one host',
  '/api/v1/monitoring/lists': 'a fixed catalogue',
  '/api/v1/monitoring/timeline': 'up to 50 hosts',
  '/api/v1/overview': 'a text, sent in parts',
  '/api/v1/problems': 'up to 50 hosts, and 100 objects of every other kind',
  '/api/v1/service': 'one state',
  '/api/v1/service/health': 'a few findings',
  '/api/v1/shared-checks/{token}': 'one check',
  '/api/v1/shared-mail-tests/{token}': 'up to 3 mails, with 88 findings each',
  '/api/v1/shared-webhook-requests/{token}': 'one request, with up to 1 MiB of its body',
  '/api/v1/ssl-check': 'a check',
  '/api/v1/workspaces/{workspaceId}/export': 'a file, sent in parts',
  '/api/v2/blacklist': 'a list that is sent in parts',
  '/api/v2/check': 'the evidence of one address, which one row has',
  '/api/v2/check-block': 'up to 10,000 addresses, sent in slices',
  '/api/webhook/endpoints/{id}': 'one endpoint, with up to 64 KiB of its answer',
  '/api/webhook/endpoints/{id}/events': 'events',
  '/api/webhook/endpoints/{id}/requests/{requestId}': 'one request, with up to 1 MiB of its body',
  '/api/webhook/endpoints/{id}/requests/{requestId}/body': 'up to 1 MiB',
  '/api/webhook/endpoints/{id}/response-secret': 'one secret',
  '/api/webhook/endpoints/{id}/deliveries/{deliveryId}': 'the newest 50 attempts, with 16 KiB each',
  '/api/webhook/endpoints/{id}/destinations': 'up to 10 destinations',
  '/api/webhook/endpoints/{id}/destinations/{destinationId}': 'one destination',
  '/api/webhook/endpoints/{id}/replays': 'up to 20 replays',
  '/api/webhook/endpoints/{id}/replays/{replayId}': 'one replay',
  '/api/webhook/endpoints/{id}/rules': 'up to 20 rules, of 256 KiB in all',
  '/api/webhook/endpoints/{id}/shares': 'up to 20 links',
  '/healthz': 'one state',
  '/openapi.json': 'a fixed text',
  '/readyz': 'one state',
  '/v1/allowlists': 'one list of up to 1,000 networks, sent in slices when it is long',
  '/v1/allowlists/check/{target}': 'one answer',
  '/v1/allowlists/{name}': 'up to 1,000 networks, sent in slices when they are long',
  '/v1/decisions': 'a list that is sent in parts',
  '/v1/decisions/stream': 'a list that is sent in parts',
  '/v1/heartbeat': 'nothing',
  '/webhooks/{token}': 'the answer that its endpoint has',
}

type Schema = {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}
type Operation = {
  parameters?: { in: string; name: string; schema: Schema & { enum?: string[] } }[]
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}
const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}
const PAGING = ['page', 'cursor', 'before', 'after', 'since', 'next']

const parametersOf = (path: string) =>
  (document.paths[path]?.['get']?.parameters ?? []).filter((each) => each.in === 'query')

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : resolved(document.components.schemas[schema.$ref.split('/').at(-1) as string] ?? {})

/** Whether a schema is, or has in one of its fields or those of `data`, an array of objects with an id. */
function hasRows(given: Schema, depth = 0): boolean {
  const schema = resolved(given)
  if (schema.items) return 'id' in (resolved(schema.items).properties ?? {})
  const fields = Object.entries(schema.properties ?? {})
    .filter(([name, field]) => depth === 0 || name !== 'data' || field)
    .map(([, field]) => field)
  return (
    (depth < 2 && fields.some((field) => hasRows(field, depth + 1))) ||
    (schema.anyOf ?? []).some((each) => hasRows(each, depth))
  )
}

/** The routes that have pages or a cursor, or return rows. */
const listRoutes = () =>
  Object.entries(document.paths)
    .filter(([path, { get }]) => {
      if (!get) return false
      const schemas = Object.entries(get.responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([, { content = {} }]) => Object.values(content).map(({ schema }) => schema))
      return (
        parametersOf(path).some(({ name }) => PAGING.includes(name)) ||
        schemas.some((schema) => hasRows(schema))
      )
    })
    .map(([path]) => path)

let portreeve: TestService
let database: Database
let alice: Person
let cookie: string

beforeAll(async () => {
  // No jobs, which would act on the rows.
  portreeve = await startTestService({ ROLES: 'web', REQUEST_LIMITS: 'off' }, (app) => {
    app.addHook('onSend', async (_request, reply, payload) => {
      reply.header('x-in-parts', String(payload instanceof Readable))
    })
  })
  database = openDatabase(portreeve.databaseUrl)
  alice = await portreeve.addPerson('Alice', { admin: true })
  await post('/api/v1/monitoring/hosts', { host: '9.9.9.9' })
  await post('/api/v1/abuse/watched-networks', { cidr: '8.8.4.0/24' })
  await post('/api/v1/alerts/channels', { type: 'webhook', url: 'http://127.0.0.1/x' })
  await post('/api/v1/dmarc/domains', { domain: 'example.test' })
  await post('/api/webhook/endpoints', {})
  const { rows } = await database.pool.query<{ token: string }>(
    'select token from webhook_endpoint',
  )
  await portreeve.request(`/webhooks/${rows[0]?.token}`, { method: 'POST', body: 'captured' })
  await database.pool.query('update dmarc_domain set verified_at = now()')
  const counted = { ip: '192.0.2.55', from: 'example.test' }
  const report = aggregate({ rows: NUMBERS.map((count) => ({ ...counted, count })) })
  const response = await portreeve.request('/api/v1/dmarc/reports', {
    method: 'POST',
    token: alice.token,
    headers: { 'content-type': 'application/xml' },
    body: report,
  })
  expect(await response.json()).toMatchObject({ data: { stored: 1 } })
  await fillEveryTable(database.pool)
  for (const statement of PRESENTABLE) await database.pool.query(statement)
  await database.pool.query(`update federation_peer set url = 'https://peer.test'`)
  await database.pool.query('update mail_credential set certificate = null')
  const signedIn = await portreeve.request('/api/auth/sign-in/email', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: portreeve.url },
    body: JSON.stringify({ email: alice.email, password: alice.password }),
  })
  cookie = cookieOf(signedIn.headers)
  const inserted = new Set<string>()
  for (const { table, row = {} } of LISTS) {
    const name = JSON.stringify([table, row])
    if (table && !inserted.has(name)) await insertRows(table, row)
    inserted.add(name)
  }
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
})

async function post(path: string, body: object): Promise<void> {
  const response = await portreeve.request(path, {
    method: 'POST',
    token: alice.token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect([path, response.status]).toEqual([path, 201])
}

/**
 * Copies a row of a table, in another order than that of the numbers, so that no list has the right
 * order by chance.
 */
async function insertRows(
  table: string,
  row: Record<string, string>,
  [first, last] = [1, ROWS],
): Promise<void> {
  const { pool } = database
  const { rows: columns } = await pool.query<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns
     where table_name = $1 and is_generated = 'NEVER'`,
    [table],
  )
  const hasId = columns.some(({ name, type }) => name === 'id' && type === 'uuid')
  const given = Object.entries({ ...(hasId && { id: ID }), ...row })
  const changes = given.map(([name, value]) => `'${name}', ${value}`).join(', ')
  const names = columns.map(({ name }) => `"${name}"`).join(', ')
  const copied = `select (jsonb_populate_record(t.base, jsonb_build_object(${changes}))).*
    from (select base from ${table} as base limit 1) as t, generate_series(${first}, ${last}) as n order by md5(n::text)`
  await pool
    .query(
      `insert into ${table} (${names}) overriding system value select ${names} from (${copied}) as made`,
    )
    .catch((error: unknown) => {
      throw new Error(`${table}: ${String(error)}`, { cause: error })
    })
}

/** The rows of a response: the first array in it or in its data. */
function rowsIn(answer: Row): Row[] {
  if (Array.isArray(answer)) return answer as Row[]
  const data = answer['data'] as Row | undefined
  const fields = [...Object.values(answer), ...Object.values(data ?? {})]
  return fields.find((field): field is Row[] => Array.isArray(field)) ?? []
}

async function ask(path: string): Promise<Row> {
  // A token shows its own workspace only, and nothing of the account.
  const response = await portreeve.request(path, {
    headers: { cookie, origin: portreeve.url, 'x-workspace': alice.id },
  })
  const answer = (await response.json()) as Row
  expect(answer, path).toMatchObject({ success: true })
  return answer
}

async function readPage(path: string, page: number) {
  const answer = await ask(`${path}${path.includes('?') ? '&' : '?'}limit=100&page=${page}`)
  const { pagination } = { ...answer, ...(answer['data'] as Row) } as {
    pagination: { totalPages: number }
  }
  return { rows: rowsIn(answer), totalPages: pagination.totalPages }
}

async function readPages(path: string): Promise<Row[]> {
  const found: Row[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { rows, totalPages } = await readPage(path, page)
    pages = totalPages
    found.push(...rows)
  }
  return found
}

/** @param next the query of the next page by an answer and its last row */
async function readByCursor(
  path: string,
  next: (answer: Row, last: Row) => unknown,
): Promise<Row[]> {
  const found: Row[] = []
  for (let query: unknown = ''; typeof query === 'string';) {
    const answer = await ask(path + query)
    const rows = rowsIn(answer)
    found.push(...rows)
    query = rows.length > 0 && next(answer, rows.at(-1) as Row)
  }
  return found
}

async function readJournal(): Promise<Row[]> {
  const found: Row[] = []
  for (let after = 10, count = 1; count > 0;) {
    const entries = await listJournal(database.db, after, 100)
    found.push(...entries)
    after = entries.at(-1)?.position ?? after
    count = entries.length
  }
  return found
}

async function readEventStream(path: string): Promise<Row[]> {
  const stop = new AbortController()
  const response = await portreeve.request(path, {
    token: alice.token,
    headers: { 'last-event-id': '10' },
    signal: stop.signal,
  })
  const found: Row[] = []
  const text = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(
    new TextDecoderStream(),
  )
  for await (const { name, data } of readEvents(text)) {
    if (name === 'request') found.push(JSON.parse(data) as Row)
    if (found.length === ROWS) break
  }
  stop.abort()
  return found
}

/** The path of a list with its parameter. */
async function pathOf({ path, id, query }: List): Promise<string> {
  const { rows } = id === undefined ? { rows: [] } : await database.pool.query<Row>(id)
  const values = Object.values(rows[0] ?? {})
  const named = path.replaceAll(/\{\w+\}/g, () => String(values.shift()))
  return query === undefined ? named : `${named}?${query}`
}

/** The keys of those rows that were made for a list. */
function keysOf({ key = 'id', keyOf = idOf }: List, rows: Row[]): unknown[] {
  const known = new Set(NUMBERS.map((n) => keyOf(n)))
  return rows.map((row) => row[key]).filter((each) => known.has(each))
}

async function readRows(list: List): Promise<Row[]> {
  const path = await pathOf(list)
  const hasPages = parametersOf(list.path).some(({ name }) => name === 'page')
  return (list.read ?? (hasPages ? readPages : async () => rowsIn(await ask(path))))(path)
}

function keysInOrder({ keyOf = idOf, limit }: List, order: RowOrder): unknown[] {
  const keys = NUMBERS.map((n) => keyOf(n))
  return (order === 'newest' ? keys.toReversed() : keys).slice(0, limit)
}

const reverse = (order: RowOrder): RowOrder => (order === 'newest' ? 'oldest' : 'newest')

describe('a thousand rows of one millisecond', () => {
  it('are read from every list of the API', () => {
    const known = new Set([...LISTS.map(({ path }) => path), ...Object.keys(OTHERS)])
    expect(listRoutes().length).toBeGreaterThan(60)
    expect(listRoutes().filter((path) => !known.has(path))).toEqual([])
    expect([...known].filter((path) => !(path in document.paths))).toEqual([])
  })

  it.each(LISTS)('are in order, each once, in $path', async (list) => {
    expect(keysOf(list, await readRows(list))).toEqual(keysInOrder(list, list.order))
  })

  const sortable = LISTS.flatMap((list) => {
    const sort = parametersOf(list.path).find(({ name }) => name === 'sort')
    return (sort?.schema.enum ?? []).map((order) => ({ list, path: list.path, order }))
  })
  it.each(sortable)('are in order at both ends of $path?sort=$order', async ({ list, order }) => {
    const path = await pathOf({ ...list, query: `${list.query ?? ''}&sort=${order}` })
    const ascending = list.sorted?.[order.replace('-', '')]
    const byProperty = ascending && (order.startsWith('-') ? reverse(ascending) : ascending)
    // Rows that are equal keep the order of the list.
    const expected = keysInOrder(list, byProperty ?? list.order)
    const first = await readPage(path, 1)
    const second = await readPage(path, 2)
    const start = keysOf(list, [...first.rows, ...second.rows])
    const end = keysOf(list, (await readPage(path, first.totalPages)).rows)
    expect(start.length).toBeGreaterThan(100)
    expect(start).toEqual(expected.slice(0, start.length))
    expect(end).toEqual(expected.slice(expected.length - end.length))
  })
})

/** Characters that are serialized at once: about a millisecond. */
const LONG_ANSWER = 64 * 1024

describe('an answer that grows with what is stored', () => {
  const isLimited = (path: string) =>
    parametersOf(path).some(({ name, schema }) => name === 'limit' && 'maximum' in schema) ||
    ['page', 'after'].some((name) => parametersOf(path).some((each) => each.name === name))
  const unpaged = LISTS.filter(({ path }) => !isLimited(path))

  it('has pages, or is known to this test', () => {
    const known = [...unpaged.map(({ path }) => path), ...Object.keys(WITHOUT_PAGES)]
    const read = Object.entries(document.paths).flatMap(([path, { get }]) => (get ? [path] : []))
    expect(read.filter((path) => !isLimited(path)).toSorted()).toEqual(
      [...new Set(known)].toSorted(),
    )
  })

  async function measure(path: string, who: Record<string, string> = { cookie }) {
    const response = await portreeve.request(path, {
      headers: { ...who, 'x-workspace': alice.id, 'accept-encoding': 'identity' },
    })
    expect([path, response.status]).toEqual([path, 200])
    const isInParts = response.headers.get('x-in-parts') === 'true'
    return { bytes: (await response.arrayBuffer()).byteLength, isInParts }
  }

  const alone = itAlone('the test adds a hook to the process')
  alone('is sent in slices, if it is long', async () => {
    for (const { table, row = {}, most } of LISTS)
      if (table && most) await insertRows(table, row, [ROWS + 1, most])
    const paths = await Promise.all(unpaged.filter(({ read }) => !read).map(pathOf))
    const [batch] = (await database.pool.query<{ id: string }>(one('migration_batch'))).rows
    paths.push(`/api/v1/imap/batches/${batch?.id}/report.csv`, '/api/v1/overview')
    const answers = await Promise.all(
      paths.map(async (path) => ({ path, ...(await measure(path)) })),
    )
    const long = answers.filter(({ bytes }) => bytes > LONG_ANSWER)
    expect(long.length).toBeGreaterThan(10)
    expect(long.filter(({ isInParts }) => !isInParts)).toEqual([])
    // There are more than a workspace can have.
    await database.pool.query('delete from abuse_token')
    const made = await portreeve.request('/api/v1/abuse/tokens', {
      method: 'POST',
      token: alice.token,
    })
    const { token } = (await made.json()) as { token: string }
    const agent = { authorization: `Bearer ${token}` }
    const allowlist = await measure('/v1/allowlists?with_content=true', agent)
    expect(allowlist.bytes).toBeGreaterThan(LONG_ANSWER)
    expect(allowlist.isInParts).toBe(true)
  })
})
