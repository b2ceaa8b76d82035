import type { Pool } from 'pg'
import { openDatabase } from '../../src/store/database.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { aggregate, daysAgo, type Row } from '../../test/dmarc/reports.ts'
import type { Records } from '../../test/servers/dns-records.ts'
import type { Zone } from '../../test/servers/rbldnsd.ts'

/** Of the first host, which is listed. */
const LISTED_ADDRESS = '8.8.4.4'
const DOMAINS = ['example.com', ...Array.from({ length: 11 }, (_, at) => `customer${at}.example`)]
const HOSTS = Array.from({ length: 24 }, (_, at) => ({
  host: `mx${at}.example.com`,
  address: at === 0 ? LISTED_ADDRESS : `9.9.9.${at}`,
}))
const REPORT_DAYS = 60
const REQUESTS = 120
const ATTACKERS = 80

/** Zones of blocklists that list something. */
export const LISTED: Record<string, Zone> = {
  'bl.spamcop.net': { listed: { [LISTED_ADDRESS]: '127.0.0.2 Blocked' } },
  'b.barracudacentral.org': { listed: { [LISTED_ADDRESS]: '127.0.0.2' } },
}

/** Records of the domains and hosts. */
export function nameRecords(): Records {
  const records: Records = {}
  for (const { host, address } of HOSTS) {
    records[`${host} A`] = [address]
    records[`${address.split('.').toReversed().join('.')}.in-addr.arpa PTR`] = [host]
  }
  for (const domain of DOMAINS) {
    records[`${domain} MX`] = ['10 mx0.example.com', '20 mx1.example.com']
    records[`${domain} TXT`] = ['v=spf1 mx -all']
    records[`_dmarc.${domain} TXT`] = [`v=DMARC1; p=none; rua=mailto:reports@${domain}`]
  }
  return records
}

/** Fills the first workspace of an account through the API, as its users and senders would. */
export async function fill(url: string, databaseUrl: string, accountId: string): Promise<void> {
  const database = openDatabase(databaseUrl)
  const owner = { accountId, workspaceId: await firstWorkspace(database.pool, accountId) }
  const { token } = await issueToken(database.db, owner, 'deployment')
  await database.close()

  async function call<T>(path: string, body: object): Promise<T> {
    const isForm = body instanceof FormData
    const answer = await fetch(new URL(path, url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(!isForm && { 'content-type': 'application/json' }),
      },
      body: isForm ? body : JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
    const text = await answer.text()
    return (text ? JSON.parse(text) : null) as T
  }

  for (const domain of DOMAINS) {
    await call(`/api/v1/domains/${domain}/watch`, {})
    for (let day = 1; day <= REPORT_DAYS; day++) {
      const form = new FormData()
      form.set('file', new Blob([reportOf(domain, day)]), `${domain}!${day}.xml`)
      await call('/api/v1/dmarc/reports', form)
    }
  }
  // Watching a domain has added the hosts of its mail.
  for (const { host } of HOSTS.slice(2)) await call('/api/v1/monitoring/hosts', { host })
  await call('/api/v1/delisting', { ip: LISTED_ADDRESS })
  await call('/api/v1/abuse/tokens', { label: 'mail server' })
  await call('/api/v1/alerts/channels', { type: 'webhook', url: 'http://127.0.0.1:1/alerts' })
  const reports = Array.from({ length: ATTACKERS }, (_, at) =>
    JSON.stringify({ ip: `8.8.${at}.7`, service: at % 3 ? 'ssh' : 'imap', count: 50 + at }),
  )
  await fetch(new URL('/api/v1/abuse/report/bulk', url), {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: reports.join('\n'),
  })
  for (const label of ['GitHub', 'shop orders', 'payments']) {
    const { endpoint } = await call<{ endpoint: { token: string } }>('/api/webhook/endpoints', {
      label,
    })
    for (let count = 0; count < REQUESTS; count++)
      await call(`/webhooks/${endpoint.token}/orders`, { order: count, paid: count % 2 === 0 })
  }
  const nowhere = { host: '127.0.0.1', port: 1, user: 'anna@example.com', password: 'x' }
  for (let count = 0; count < 3; count++)
    await call('/api/v1/imap/migrate', {
      source: nowhere,
      destination: nowhere,
      folders: ['INBOX', 'Sent'],
    })
  await untilChecked(url, token)
}

function reportOf(domain: string, day: number): string {
  const rows: Row[] = [
    { ip: '192.0.2.10', count: 420 + ((day * 37) % 110) },
    { ip: '203.0.113.25', count: 80, spf: 'fail', selector: 'news' },
    { ip: '198.51.100.7', count: day % 14 === 3 ? 90 : 7, dkim: 'fail', spf: 'fail' },
    ...Array.from({ length: 12 }, (_, at): Row => ({ ip: `192.0.2.${20 + at}`, count: 3 + at })),
  ]
  return aggregate({ domain, org: 'google.com', begin: daysAgo(day), rows })
}

async function firstWorkspace(pool: Pool, accountId: string): Promise<string> {
  const { rows } = await pool.query<{ workspaceId: string }>(
    'select workspace_id as "workspaceId" from membership where account_id = $1',
    [accountId],
  )
  return rows[0]?.workspaceId ?? ''
}

async function untilChecked(url: string, token: string): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    const answer = await fetch(new URL('/api/v1/monitoring/hosts', url), {
      headers: { authorization: `Bearer ${token}` },
    })
    const { data } = (await answer.json()) as { data: { lastCheckAt: string | null }[] }
    if (data.every(({ lastCheckAt }) => lastCheckAt !== null)) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
