import { Client } from 'pg'
import { aggregate, daysAgo } from '../dmarc/reports.ts'
import type { Person, TestService } from '../service.ts'

const DAY_MS = 86_400_000

export type ChartData = { domain: string; host: string; migration: string }

/** Fills the charts of a workspace: 40 days of DMARC, listings, a migration, and attacks. */
export async function fillCharts(portreeve: TestService, person: Person): Promise<ChartData> {
  const client = new Client(portreeve.databaseUrl)
  await client.connect()
  try {
    const domain = await addReports(portreeve, person, client)
    const host = await addTimelines(client, person)
    const migration = await addMigration(client, person)
    await addAttacks(client)
    return { domain, host, migration }
  } finally {
    await client.end()
  }
}

const SOURCES: [ip: string, name: string | null, count: number][] = [
  ['192.0.2.10', 'mail.example.com', 420],
  ['198.51.100.20', 'o1.sendgrid.net', 260],
  ['203.0.113.30', 'mail-ej1-f41.google.com', 120],
  ['203.0.113.40', 'mta.mailgun.net', 60],
  ['198.51.100.7', null, 25],
]

async function addReports(
  portreeve: TestService,
  { token }: Person,
  client: Client,
): Promise<string> {
  const created = await portreeve.request('/api/v1/dmarc/domains', {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ domain: 'example.com' }),
  })
  const { data } = (await created.json()) as { data: { id: string } }
  for (let day = 1; day <= 28; day++) {
    const rows = SOURCES.flatMap(([ip, , count], index) => {
      const isQuiet = index === 2 && day > 8 && day < 14
      if (isQuiet) return []
      const sent = Math.round(count * (0.7 + ((day * 37 + index * 11) % 60) / 100))
      const failed =
        index === 4 ? sent : index === 1 && day > 12 && day < 17 ? sent * 0.6 : sent * 0.02
      const fail = Math.round(failed)
      return [
        { ip, count: sent - fail },
        { ip, count: fail, dkim: 'fail' as const, spf: 'fail' as const },
      ].filter((row) => row.count > 0)
    })
    const report = aggregate({
      domain: 'example.com',
      org: 'google.com',
      begin: daysAgo(day),
      rows,
    })
    const form = new FormData()
    form.set('file', new Blob([report]), `google.com!example.com!${day}.xml`)
    const answer = await portreeve.request('/api/v1/dmarc/reports', {
      method: 'POST',
      token,
      body: form,
    })
    if (!answer.ok) throw new Error(`the report was answered ${answer.status}`)
  }
  for (const [ip, name] of SOURCES)
    await client.query(
      `insert into dmarc_address (address, reverse_name, confirmed, asked_at) values ($1, $2, true, now())
       on conflict (address) do update set reverse_name = $2, confirmed = true, asked_at = now()`,
      [ip, name],
    )
  return data.id
}

/** A host that was listed twice, three quieter ones, and their history. */
async function addTimelines(client: Client, { id: workspaceId }: Person): Promise<string> {
  const ago = (days: number) => new Date(Date.now() - days * DAY_MS)
  const add = async (host: string, status: string, periods: [state: string, days: number][]) => {
    const { rows } = await client.query<{ id: string }>(
      `insert into monitored_host (workspace_id, host, status, last_check_at, full_due_at, grave_due_at, side_due_at)
       values ($1, $2, $3, now(), now() + interval '1 day', now() + interval '1 day', now() + interval '1 day')
       returning id`,
      [workspaceId, host, status],
    )
    const id = rows[0]?.id ?? ''
    for (const [state, days] of periods)
      await client.query('insert into monitored_period values ($1, $2, $3)', [id, ago(days), state])
    return id
  }
  const id = await add('mail.example.com', 'listed', [
    ['clean', 80],
    ['listed', 62],
    ['clean', 58],
    ['unknown', 30],
    ['clean', 26],
    ['listed', 3],
  ])
  await add('relay.example.com', 'clean', [
    ['clean', 120],
    ['listed', 40],
    ['clean', 31],
  ])
  await add('shop.example.com', 'clean', [['clean', 50]])
  await add('old.example.com', 'unknown', [
    ['clean', 70],
    ['unknown', 20],
  ])
  const event = (days: number, values: string[]) =>
    client.query(
      `insert into monitored_event (host_id, at, kind, name, dnsbl, ip, from_state, to_state)
       values ($1, $2, $3, $4, nullif($5, ''), nullif($6, ''), $7, $8)`,
      [id, ago(days), ...values],
    )
  const listing = (name: string, zone: string, from: string, to: string) => [
    'blacklist',
    name,
    zone,
    '192.0.2.10',
    from,
    to,
  ]
  await event(62, listing('SpamCop SCBL', 'bl.spamcop.net', 'clean', 'listed'))
  await event(60, listing('Barracuda', 'b.barracudacentral.org', 'clean', 'listed'))
  await event(58, listing('SpamCop SCBL', 'bl.spamcop.net', 'listed', 'clean'))
  await event(57, listing('Barracuda', 'b.barracudacentral.org', 'listed', 'clean'))
  await event(45, ['certificate', 'Certificate on port 443', '', '', 'expiring', 'valid'])
  await event(12, ['dns', 'mail.example.com A', '', '', '192.0.2.9', '192.0.2.10'])
  await event(3, listing('SpamCop SCBL', 'bl.spamcop.net', 'clean', 'listed'))
  await client.query(
    `insert into monitored_fact (host_id, kind, subject, state, detail, since)
     values ($1, 'blacklist', '192.0.2.10 bl.spamcop.net', 'listed', '{}', $2)`,
    [id, ago(3)],
  )
  return id
}

/** A migration that ran for twenty minutes, was slowed down, and lost a connection. */
async function addMigration(client: Client, { id: workspaceId }: Person): Promise<string> {
  const points = Array.from({ length: 150 }, (_, step) => {
    const isThrottled = step > 60 && step < 72
    const isAway = step > 100 && step < 108
    const messages = isThrottled
      ? 4
      : 380 + Math.round(120 * Math.sin(step / 9)) + ((step * 53) % 60)
    return isAway
      ? null
      : [
          step,
          messages,
          messages * 21_000 + ((step * 7_919) % 90) * 10_000,
          Number(isThrottled),
          Number(step === 108),
        ]
  }).filter((point) => point !== null)
  const account = (host: string) =>
    JSON.stringify({ host, port: 993, secure: true, user: 'anna', tlsVerify: true })
  const progress = {
    currentFolder: '',
    foldersDone: 1,
    foldersTotal: 1,
    messagesDone: 52_000,
    messagesTotal: 52_000,
    skippedByDedup: 0,
    folderProgress: {},
    errorCount: 0,
    bytesDone: 1_100_000_000,
    bytesTotal: 1_100_000_000,
    messagesPerSecond: 0,
    bytesPerSecond: 0,
    etaSeconds: null,
    throttledUntil: null,
    warnings: [],
    notes: [],
  }
  const { rows } = await client.query<{ id: string }>(
    `insert into migration (workspace_id, status, source, destination, dest_prefix, folders, options, progress,
       counted, started_at, completed_at, throughput)
     values ($1, 'completed', $2, $3, '', '{INBOX}', $4, $5, true, now() - interval '20 minutes', now(), $6)
     returning id`,
    [
      workspaceId,
      account('imap.old.example'),
      account('imap.new.example'),
      JSON.stringify({ deduplicate: false, allMailOnce: false, dryRun: false, folderMap: {} }),
      JSON.stringify(progress),
      JSON.stringify({ startedAt: Date.now() - 1_200_000, stepSeconds: 8, points }),
    ],
  )
  return rows[0]?.id ?? ''
}

const NETWORKS = [
  'Example Hosting',
  'Cloud of Things',
  '',
  'Northern Broadband',
  'Data Center East',
  'Campus Network',
  '',
  'Mobile Operator',
]
const SERVICES = ['ssh', 'smtp', 'imap', 'wordpress', 'ftp', 'rdp', 'mysql', 'sip']

async function addAttacks(client: Client): Promise<void> {
  for (const [n, name] of NETWORKS.entries())
    for (const [s, service] of SERVICES.entries()) {
      const reports = Math.round(2_400 / (1 + n) / (1 + s * s * 0.6)) - ((n * 7 + s * 13) % 9) * 3
      if (reports <= 0 || (n + s) % 5 === 4) continue
      await client.query(
        `insert into abuse_system_count values ((now() at time zone 'UTC')::date - 1, $1, $2, $3, 0, $4)`,
        [name ? `AS${64_500 + n}` : `203.${n}.0.0/16`, name, service, reports],
      )
    }
  for (let day = 0; day < 30; day++)
    for (const [s, service] of SERVICES.entries())
      await client.query(
        `insert into abuse_count values (date_trunc('day', now(), 'UTC') - make_interval(days => $1), $2, 0, $3)`,
        [day, service, 40 + ((day * 37 + s * 17) % 50) * (8 - s)],
      )
}
