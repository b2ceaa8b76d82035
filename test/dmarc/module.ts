import { addAccount, passwordOf } from '../people.ts'
import { createAuth } from '../../src/accounts/sign-in/better-auth-loader.ts'
import { createIdentify } from '../../src/accounts/tokens/identify-token.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { readConfig } from '../../src/config.ts'
import { createDmarcModule } from '../../src/dmarc/module.ts'
import type { RaiseAlert, RaiseResolved } from '../../src/dmarc/route-deps.ts'
import type { IntakeLimits } from '../../src/dmarc/limits.ts'
import { createReportRecords } from '../../src/domains/report-records.ts'
import { createAuthHooks } from '../../src/http/auth.ts'
import { addRoutes } from '../../src/http/scopes.ts'
import { createServer } from '../../src/http/http-server.ts'
import type { Job } from '../../src/jobs/job.ts'
import { openQueue, type Queue } from '../../src/jobs/queue.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { createLog } from '../../src/log.ts'
import type { Resolver } from '../../src/net/dns.ts'
import { isUnavailable } from '../../src/store/database.ts'
import { openNotifications } from '../../src/store/notifications.ts'
import { freshDatabase } from '../database.ts'
import { mapResolver } from '../resolver.ts'
import { listenForTests } from '../scaled/instances.ts'
import { jobContext } from '../jobs/context.ts'

const SECRET_KEY = 'the key of the room in which reports are read'
export const REPORT_DOMAIN = 'reports.portreeve.test'

export type Person = { id: string; token: string }
export type DmarcTest = Awaited<ReturnType<typeof startDmarc>>
type Asked = { token?: string; body?: unknown; type?: string; method?: string }
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = { status: number; body: any }

type Options = {
  resolver?: Resolver
  env?: Record<string, string>
  raiseAlert?: RaiseAlert
  raiseResolved?: RaiseResolved
  intakeLimits?: IntakeLimits
  pollLimitMs?: number
  dnsWaitMs?: number
  works?: boolean
}

let people = 0

/**
 * Starts an instance with the DMARC module alone on a database of its own, with its SMTP server on
 * a free port.
 */
export async function startDmarc({
  resolver = mapResolver(),
  env,
  raiseAlert,
  raiseResolved,
  intakeLimits,
  pollLimitMs,
  // As long as a lookup takes.
  dnsWaitMs = 4_000,
  works = false,
}: Options = {}) {
  const settings = { REPORT_DOMAIN, ALLOW_PRIVATE_TARGETS: '127.0.0.0/8,::1', ...env }
  const config = readConfig({ SMTP_LISTEN: '127.0.0.1:0', ...settings })
  const log = createLog('silent')
  const { url: databaseUrl, db, pool, drop } = await freshDatabase()
  const notifications = await openNotifications(databaseUrl, log)
  const isSetUp = async () => true
  const auth = createAuth({
    pool,
    config,
    secret: SECRET_KEY,
    log,
    isSetUp,
    onChange: async () => {},
  })
  const identify = createIdentify({ db, auth, notifications, log })
  const dmarc = createDmarcModule({
    db,
    log,
    secretKey: SECRET_KEY,
    resolver,
    config,
    systems: null,
    findReportRecords: createReportRecords({ resolver, allowPrivate: true, log }),
    openTokens: async () => {
      throw new Error('no sign-ins in these tests')
    },
    intakeLimits,
    pollLimitMs,
    dnsWaitMs,
    ...(raiseAlert && { raiseAlert }),
    ...(raiseResolved && { raiseResolved }),
  })
  const queue = await openQueue({ pool, jobs: dmarc.jobs, log })
  const worker = works ? startWorker({ queue, jobs: dmarc.jobs, notifications, log }) : null
  const app = await createServer({
    log,
    version: '0',
    trustedProxies: [],
    isUnavailable,
    isReady: async () => true,
  })
  addRoutes(app, createAuthHooks(identify, []), [dmarc.routes], { queue })
  const listener = await listenForTests(app, { ...settings, DATABASE_URL: databaseUrl, SECRET_KEY })
  const { url } = listener
  const smtp = await dmarc.listen()

  async function ask(path: string, { token, body, type, method }: Asked = {}): Promise<Answer> {
    const isJson = body !== undefined && type === undefined && !(body instanceof FormData)
    const response = await fetch(new URL(`/api/v1/dmarc/${path}`, url), {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(isJson && { 'content-type': 'application/json' }),
        ...(type && { 'content-type': type }),
      },
      body: body === undefined ? null : isJson ? JSON.stringify(body) : (body as string),
    })
    const text = await response.text()
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }

  return {
    url,
    databaseUrl,
    db,
    pool,
    dmarc,
    smtpPort: smtp?.port ?? 0,
    ask,
    async addPerson(name: string): Promise<Person> {
      const email = `${name.toLowerCase()}.${(people += 1)}@people.test`
      const account = {
        email,
        password: passwordOf(name),
        name,
        plan: 'free' as const,
        admin: false,
      }
      const { id } = await addAccount(db, account)
      return {
        id,
        token: (await issueToken(db, { accountId: id, workspaceId: id }, 'tests')).token,
      }
    },
    /** Registers a domain. */
    async addDomain(token: string, domain = 'example.test') {
      const { body } = await ask('domains', { token, body: { domain } })
      return body.data as {
        id: string
        domain: string
        reportEmail: string
        record: string
        verification: { value: string }
      }
    },
    upload: (token: string, body: unknown, type = 'application/octet-stream') =>
      ask('reports', { token, body, type }),
    /** Runs a job once, as a worker would. */
    async run(name: string, signal = new AbortController().signal): Promise<void> {
      const context = jobContext({ signal, log })
      const run = async (job: Pick<Job, 'name'>, data: object) => {
        await dmarc.jobs.find((each) => each.name === job.name)?.run(data, { ...context, enqueue })
        return true
      }
      // Jobs that it enqueues run at once.
      const enqueue: Queue['enqueue'] = async (_db, job, data) => run(job, data)
      await run({ name }, {})
    },
    async stop(): Promise<void> {
      await smtp?.close()
      await worker?.stop(1_000)
      await listener.stop()
      await queue.close()
      await identify.close()
      await notifications.close()
      await drop()
    },
  }
}
