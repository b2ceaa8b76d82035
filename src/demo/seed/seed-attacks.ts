import { createHash } from 'node:crypto'
import { decideCandidate, readCandidates } from '../../abuse/candidates/candidates.ts'
import { openAttackList } from '../../abuse/attack-list.ts'
import { sweepAndPublish } from '../../abuse/export/list-publisher.ts'
import { createFleetModule } from '../../fleet/module.ts'
import { createPublicFeeds } from '../../public-feeds/public-feeds.ts'
import { requireService } from '../../abuse/services.ts'
import { readSubject } from '../../abuse/subject.ts'
import { checkDueNetworks } from '../../public-feeds/watched-networks/check-network.ts'
import { insertWatched } from '../../public-feeds/watched-networks/watched-networks.sql.ts'
import { openNotifications } from '../../store/notifications.ts'
import { HOUR_MS, MINUTE_MS } from '../../time.ts'
import { markAlertsSent, rewrite } from '../demo.sql.ts'
import { daysAgo, type Seed } from './seed-context.ts'

/** Servers of the workspace that report. */
const SERVERS = [
  { label: 'mail', address: '192.0.2.25' },
  { label: 'shop', address: '192.0.2.81' },
] as const

/** Networks whose entries on lists raise an alert: in one of them, a neighbour attacks others. */
const WATCHED = [
  ['192.0.2.0/24', 'Our servers'],
  ['198.51.100.64/26', 'Rented servers'],
] as const

/** An attacker: what it attacks, how often it was reported in the last days, and by how many others. */
type Attacker = { ip: string; service: string; days: number; perDay: number; others: number }

const ATTACKERS: Attacker[] = [
  { ip: '203.0.113.7', service: 'ssh', days: 9, perDay: 6, others: 9 },
  { ip: '203.0.113.52', service: 'smtp', days: 5, perDay: 5, others: 7 },
  { ip: '198.51.100.34', service: 'imap', days: 7, perDay: 4, others: 6 },
  { ip: '198.51.100.101', service: 'wordpress', days: 3, perDay: 7, others: 8 },
  { ip: '198.51.100.66', service: 'ssh', days: 1.2, perDay: 8, others: 5 },
  { ip: '203.0.113.140', service: 'http', days: 12, perDay: 3, others: 5 },
  { ip: '198.51.100.18', service: 'ssh', days: 2, perDay: 2, others: 2 },
  { ip: '203.0.113.230', service: 'smtp', days: 0.5, perDay: 6, others: 1 },
]
const RECENT = Array.from({ length: 14 }, (_, n): Attacker => ({
  ip: `${n % 2 === 0 ? '203.0.113' : '198.51.100'}.${150 + n * 5}`,
  service: ['ssh', 'smtp', 'imap', 'http'][n % 4] ?? 'ssh',
  days: 26 - n,
  perDay: 1,
  others: n % 4,
}))

const COMMIT_MS = 3 * HOUR_MS

type Report = { at: Date; attacker: Attacker; from: string; token: string | null }

/** A month of attack reports, from the servers of the workspace and from others. */
export async function seedAttacks({
  config,
  log,
  db,
  pool,
  call,
  workspaceId,
}: Seed): Promise<void> {
  let now = daysAgo(30)
  await using undo = new AsyncDisposableStack()
  const notifications = await openNotifications(config.DATABASE_URL ?? '', log)
  undo.defer(() => notifications.close())
  const { BASE_URL: baseUrl, REPORTS_URL: reportsUrl, SECRET_KEY: secretKey = '' } = config
  const clock = () => now.getTime()
  const publicFeeds = await createPublicFeeds({ db, notifications, log, clock })
  undo.defer(() => publicFeeds.close())
  const list = await openAttackList({
    db,
    pool,
    notifications,
    log,
    secretKey,
    reportsUrl,
    baseUrl,
    clock,
  })
  undo.defer(() => list.close())
  const fleet = createFleetModule({
    list,
    publicFeeds,
    notifications,
    baseUrl,
    resolver: undefined,
  })
  undo.defer(() => fleet.close())
  const tokens: string[] = []
  for (const { label } of SERVERS) {
    const { token } = await call<{ token: string }>('/api/v1/abuse/tokens', { label })
    tokens.push(token)
  }
  await call('/api/v1/abuse/fleet/keys', { label: 'Firewall' })
  for (const [network, label] of WATCHED) await insertWatched(db, { workspaceId, network, label })
  // Reports of the same hours share a commit, as those of one moment do.
  const commits = Map.groupBy(reportsInOrder(tokens), ({ at }) =>
    Math.floor(at.getTime() / COMMIT_MS),
  )
  for (const reports of commits.values()) {
    now = reports.at(-1)?.at ?? now
    await Promise.all(
      reports.map(({ attacker, from, token }) =>
        list.submit({
          reporter: list.reporterOf(from),
          tokenHash: token && createHash('sha256').update(token).digest('hex'),
          reports: [
            {
              subject: readSubject(attacker.ip),
              service: requireService(attacker.service).id,
              port: null,
              count: 3,
            },
          ],
        }),
      ),
    )
  }
  now = new Date()
  // A young list asks an administrator, who has decided about all but one.
  const { candidates } = await readCandidates(list, { limit: 50, offset: 0 }, now.getTime())
  for (const { address } of candidates.slice(1))
    await decideCandidate(list, { subject: readSubject(address), list: true }, now.getTime())
  await sweepAndPublish(list)
  await checkDueNetworks({ db, log, clock, publicFeeds }, AbortSignal.timeout(MINUTE_MS))
  await markAlertsSent(db, now)
  for (const table of ['abuse_token', 'watched_network'])
    await rewrite(db, table, { created_at: daysAgo(58) }, {})
}

function reportsInOrder(tokens: string[]): Report[] {
  const reports = [...ATTACKERS, ...RECENT].flatMap((attacker, n) => reportsOf(attacker, n, tokens))
  return reports.toSorted((one, other) => one.at.getTime() - other.at.getTime())
}

function reportsOf(attacker: Attacker, n: number, tokens: string[]): Report[] {
  const { days, perDay, others } = attacker
  return Array.from({ length: Math.ceil(days * perDay) }, (_, index): Report => {
    const wander = ((index * 7_919 + n * 104_729) % 100) / 100
    const at = new Date(daysAgo(days).getTime() + ((index + wander) / perDay) * 24 * HOUR_MS)
    const reporter = (index + n) % (others + SERVERS.length)
    const server = SERVERS[reporter]
    return {
      at: at > new Date() ? new Date(Date.now() - (n + 1) * MINUTE_MS) : at,
      attacker,
      // Servers elsewhere: one network, and so one witness, each.
      from: server?.address ?? `10.${reporter * 8}.${n}.4`,
      token: server ? (tokens[reporter] ?? null) : null,
    }
  })
}
