import { addAccount } from '../people.ts'
import { createAuth } from '../../src/accounts/sign-in/better-auth-loader.ts'
import { createIdentify } from '../../src/accounts/tokens/identify-token.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import type { NewAlert } from '../../src/alerts/raise.ts'
import { readConfig } from '../../src/config.ts'
import { createDelistingModule } from '../../src/delisting/module.ts'
import type { RaiseAlert } from '../../src/delisting/notify.ts'
import { createAuthHooks } from '../../src/http/auth.ts'
import { createEventStreams } from '../../src/http/events/event-streams.ts'
import { addRoutes } from '../../src/http/scopes.ts'
import { createServer } from '../../src/http/http-server.ts'
import { openQueue } from '../../src/jobs/queue.ts'
import { createLog } from '../../src/log.ts'
import { createResolver } from '../../src/net/dns.ts'
import { isUnavailable, openDatabase } from '../../src/store/database.ts'
import { openNotifications } from '../../src/store/notifications.ts'
import { createBlocklists } from '../../src/protocols/dnsbl/blocklists.ts'
import { catalogue } from '../servers/blacklists.ts'
import { jobContext } from '../jobs/context.ts'

type Answer = {
  status: 'listed' | 'clean' | 'unknown'
  codes: string[]
  reason: string | null
}

export type Step = {
  id: string
  blacklistName: string
  dnsbl: string
  method: string
  status: string
  attempt: number
  outcome: string | null
  needs: string | null
  nextStep: string
  url: string | null
  request: {
    to: string | null
    subject: string
    text: string
    state: string
    messageId: string | null
    reply: string | null
  } | null
  firstAnswer: Answer
  lastAnswer: Answer
  nextCheckAt: string | null
  deadlineAt: string | null
}

export type Process = {
  id: string
  ip: string
  status: string
  totalListings: number
  stepsCompleted: number
  stepsRunning: number
  steps: Step[]
  notPursued: { dnsbl: string; reason: string }[]
  reverseDns: { status: string; names: string[] } | null
  relistedAfter: string | null
  events: { stepId: string; at: string; text: string }[]
}

/** The fields that any of the routes may return. */
export type Reply = {
  success: boolean
  code: string
  error: string
  details: { path: string }[]
  data: Process & {
    processes: Process[]
    pagination: { page: number; total: number; totalPages: number }
  }
}

type Endpoint = { address: string; port: number }

export type DelistingTestOptions = {
  databaseUrl: string
  lists: Endpoint
  /** DNS server for reverse DNS. */
  dns: Endpoint
  smtpUrl?: string
  clock: Clock
  raiseAlert?: RaiseAlert
}

/** The lists of the shipped catalogue that are used here: a few of each kind. */
export const ZONES = [
  'zen.spamhaus.org',
  'sbl.spamhaus.org',
  'xbl.spamhaus.org',
  'bl.spamcop.net',
  'b.barracudacentral.org',
  'bl.blocklist.de',
  'bl.nordspam.com',
  'dnsbl-2.uceprotect.net',
  'bl.suomispam.net',
  'dnsbl.justspam.org',
  'tor.dan.me.uk',
]

/** The clock of a test, which stands still until it is set. */
export type Clock = { now: Date }

const HOUR = 3_600_000

export type DelistingTest = Awaited<ReturnType<typeof startDelisting>>

/**
 * One instance with the delisting module alone; tests run its job explicitly. Several may share a
 * database.
 */
export async function startDelisting({
  databaseUrl,
  lists,
  dns,
  smtpUrl,
  clock,
  ...options
}: DelistingTestOptions) {
  const config = {
    ...readConfig({}),
    SMTP_URL: smtpUrl,
    MAIL_FROM: 'Portreeve <delisting@portreeve.example>',
  }
  const log = createLog(process.env['TEST_LOG'] ?? 'silent')
  const { db, pool, close } = openDatabase(databaseUrl)
  const notifications = await openNotifications(databaseUrl, log)
  const auth = createAuth({
    pool,
    config,
    secret: 'x'.repeat(32),
    log,
    isSetUp: async () => true,
    onChange: async () => {},
  })
  const identify = createIdentify({ db, auth, notifications, log })
  const dnsbl = createResolver({ servers: [lists], timeoutMs: 2_000 })
  const some = { lists: catalogue.lists.filter(({ zone }) => ZONES.includes(zone)), warnings: [] }
  const blocklists = createBlocklists({ catalogue: some, keys: new Map(), resolver: dnsbl })
  const resolver = createResolver({ servers: [dns], timeoutMs: 2_000 })
  const alerts: NewAlert[] = []
  const raiseAlert: RaiseAlert = options.raiseAlert ?? (async (_db, alert) => alerts.push(alert))
  const delisting = createDelistingModule({
    db,
    blocklists,
    resolver,
    raiseAlert,
    config,
    log,
    now: () => clock.now,
  })
  const { jobs } = delisting
  const queue = await openQueue({ pool, jobs, log })
  const app = await createServer({
    log,
    version: '0',
    trustedProxies: [],
    isUnavailable,
    isReady: async () => true,
  })
  addRoutes(app, createAuthHooks(identify, []), [delisting.routes], { queue })
  createEventStreams(app)

  async function tend(signal: AbortSignal = new AbortController().signal): Promise<void> {
    for (const job of jobs) await job.run({}, jobContext({ signal, log }))
  }

  async function nextAt(): Promise<Date | null> {
    const { rows } = await pool.query<{ at: Date | null }>(
      'select min(next_at) as at from delisting_step',
    )
    return rows[0]?.at ?? null
  }

  async function call(
    token: string,
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    body?: object,
  ) {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await app.inject({
      method,
      url: `/api/v1/delisting${path}`,
      headers,
      ...(body && { payload: body }),
    })
    return { status: answer.statusCode, json: answer.json<Reply>() }
  }

  return {
    db,
    pool,
    alerts,
    /** Answers on a port as well; gives its URL. */
    listen: () => app.listen({ host: '127.0.0.1', port: 0 }),
    tend,
    call,
    /** Lets time pass: works whenever something is due, as the schedule does every minute. */
    async pass(hours: number): Promise<void> {
      const until = new Date(clock.now.getTime() + hours * HOUR)
      for (let due = await nextAt(); due && due <= until; due = await nextAt()) {
        if (due > clock.now) clock.now = due
        await tend()
      }
      clock.now = until
    },
    async addPerson(name: string): Promise<string> {
      const email = `${name.toLowerCase()}@people.test`
      const account = {
        email,
        password: `the password of ${name}`,
        name,
        plan: 'free',
        admin: false,
      } as const
      const { id } = await addAccount(db, account)
      return (await issueToken(db, { accountId: id, workspaceId: id }, 'tests')).token
    },
    async stop(): Promise<void> {
      await app.close()
      await queue.close()
      await identify.close()
      resolver.close()
      dnsbl.close()
      await notifications.close()
      await close()
    },
  }
}
