import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { PoolClient } from 'pg'
import { mailReports } from '../../src/exchange/abuse-mails/send-mails.ts'
import { changeRelay } from '../../src/exchange/relays/relays.ts'
import { sendDueReports } from '../../src/exchange/relays/send-due.ts'
import { deliverDue } from '../../src/alerts/delivery/deliver-alerts.ts'
import { raiseAlert } from '../../src/alerts/raise.ts'
import { recordLost, sendRequest } from '../../src/delisting/requests/send.ts'
import { isClaimed } from '../../src/delisting/steps/state-machine.ts'
import { findStep } from '../../src/delisting/steps/delisting-steps.sql.ts'
import { deliverDigest, findDueDigests } from '../../src/digest/delivery/deliver-digest.ts'
import { createLog } from '../../src/log.ts'
import { createGuardedFetch } from '../../src/net/http/guarded-fetch.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { READERS } from '../digest/module.ts'
import { addAccount, removeEverybody } from '../people.ts'
import { mapResolver } from '../resolver.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { startRelayServices, type RelayServices } from '../servers/relay-services.ts'
import { inLiveWorkspaces } from './context.ts'

const SECRET_KEY = 'the secret key of the tests of outboxes'
const log = createLog('silent')

let database: FreshDatabase
let sink: Sink
let services: RelayServices
let people = 0

beforeAll(async () => {
  database = await freshDatabase()
  sink = await startSink()
  services = await startRelayServices()
})
afterEach(() => removeEverybody(database.db))
afterAll(async () => {
  await sink?.stop()
  await services?.stop()
  await database?.drop()
})

type Db = Database['db']
type Outbox = {
  /** Sends what is due, as one sender. */
  send(db: Db): Promise<unknown>
  /** Lets the lease of a sender expire, as time does. */
  expire(): Promise<unknown>
  state(): Promise<string>
}

/** Statements at which a sender stalls. */
type Stall = { at: RegExp; nth?: number; when: 'before' | 'after' }

const HAND_OVER = /^\s*with owned/
const END = /^update "\w+" as r set "state" = \$1, (?!"attempts")/

/** What a sender leaves that is killed at this point; it is also where one stalls, and resumes. */
const POINTS = {
  'before it hands over': { at: HAND_OVER, when: 'before', left: 'sent', isSent: true },
  'after it has handed over': { at: HAND_OVER, when: 'after', left: 'uncertain', isSent: false },
  'before it stores the outcome': { at: END, when: 'before', left: 'uncertain', isSent: true },
} as const

type Point = keyof typeof POINTS

const query = async (text: string, values: unknown[] = []) =>
  (await database.pool.query(text, values)).rows
const stateIn =
  (table: string, workspaceId: string, column = 'state') =>
  async () =>
    (
      await query(`select ${column} as state from ${table} where workspace_id = $1`, [workspaceId])
    )[0].state as string

const LISTED = {
  status: 'listed',
  at: new Date().toISOString(),
  codes: [],
  meanings: [],
  reason: null,
  detail: null,
  health: 'healthy',
}

const OUTBOXES: Record<
  string,
  { prepare(workspaceId: string): Promise<Outbox>; stalls?: Record<Point, Stall> }
> = {
  alerts: {
    async prepare(workspaceId) {
      await raiseAlert(database.db, {
        workspaceId,
        kind: 'blacklist.listed',
        key: 'one',
        incident: null,
        phase: 'once',
        severity: 'error',
        title: 'It began',
        text: 'Something happened.',
        nextStep: '',
        path: '/monitoring',
        at: new Date(),
      })
      const deps = {
        secretKey: SECRET_KEY,
        relay: mailRelay(),
        baseUrl: 'https://portreeve.test',
        resolver: mapResolver(),
        allowPrivate: true,
        alertPrivate: true,
        origins: new Map<string, string>(),
        batching: { holdMs: 0, gapMs: 0, burstHoldMs: 0 },
        clock: Date.now,
        log,
      }
      const { signal } = new AbortController()
      return {
        send: (db) => deliverDue({ ...deps, db }, { stop: signal, cut: signal }),
        expire: () => query(`update alert_message set claimed_until = now() - interval '1 second'`),
        state: async () =>
          (await query('select state from alert_message order by id desc'))[0].state,
      }
    },
  },

  digests: {
    async prepare(workspaceId) {
      const due = new Date(Date.now() - 60_000)
      await query(
        `insert into digest_subscription (workspace_id, account_id, frequency, hour, time_zone, weekday, due_at, attempt_at)
         values ($1, $1, 'daily', 7, 'UTC', 1, $2, $2)`,
        [workspaceId, due],
      )
      const deps = {
        readers: READERS,
        relay: mailRelay(),
        secretKey: SECRET_KEY,
        previousKey: undefined,
        baseUrl: 'https://portreeve.test',
        log,
      }
      const { signal } = new AbortController()
      return {
        async send(db) {
          const now = new Date()
          for (const member of await findDueDigests({ ...deps, db }, now))
            await deliverDigest({ ...deps, db }, member, { now, signal })
        },
        expire: () =>
          query(`update digest_subscription set claimed_until = now() - interval '1 second'`),
        state: stateIn('digest_subscription', workspaceId, 'outcome'),
      }
    },
  },

  relays: {
    async prepare(workspaceId) {
      await changeRelay(
        { db: database.db, secretKey: SECRET_KEY },
        { workspaceId, service: 'abuseipdb' },
        { key: 'a'.repeat(80) },
      )
      await query(
        `insert into relayed_report (relay_id, address, services, count, reported_at)
         select id, '192.0.2.1', '{ssh}', 1, now() from relay where workspace_id = $1`,
        [workspaceId],
      )
      const deps = {
        log,
        clock: Date.now,
        secretKey: SECRET_KEY,
        resolver: mapResolver(),
        allowPrivate: true,
        mailRelay: null,
        origins: services.origins,
      }
      return {
        send: (db) => sendDueReports({ ...deps, db }, new AbortController().signal),
        expire: () => query(`update relay set claimed_until = now() - interval '1 second'`),
        state: async () => (await query('select state from relayed_report'))[0].state,
      }
    },
  },

  'abuse mails': {
    async prepare(workspaceId) {
      await query(
        `insert into abuse_mail_settings (workspace_id, mode, contact) values ($1, 'on', 'olivia@people.test')`,
        [workspaceId],
      )
      const day = '2026-11-20'
      const [{ id }] = await query(
        `insert into abuse_mail (workspace_id, day, recipient, network, is_test)
         values ($1, $2, 'abuse@provider.test', '192.0.2.0/24', false) returning id`,
        [workspaceId, day],
      )
      await query(
        `insert into abuse_mail_report (workspace_id, day, address, services, count, first_at, last_at, mail_id)
         values ($1, $2, '192.0.2.1', '{ssh}', 1, now(), now(), $3)`,
        [workspaceId, day, id],
      )
      const deps = {
        log,
        clock: Date.now,
        mailRelay: mailRelay(),
        baseUrl: 'https://portreeve.test',
        returnPath: null,
        optOutKey: SECRET_KEY,
        request: createGuardedFetch({ resolver: mapResolver(), allowPrivate: true }, 1_000),
      }
      const { signal } = new AbortController()
      return {
        send: (db) => mailReports({ ...deps, db }, inLiveWorkspaces(signal)),
        expire: () => query(`update abuse_mail set claimed_until = now() - interval '1 second'`),
        state: stateIn('abuse_mail', workspaceId),
      }
    },
  },

  'delisting requests': {
    // The step is locked from the beginning of the transaction in which it changes.
    stalls: {
      'before it hands over': { at: /^begin/, when: 'before' },
      'after it has handed over': { at: /^commit/, when: 'after' },
      'before it stores the outcome': { at: /^begin/, nth: 2, when: 'before' },
    },
    async prepare(workspaceId) {
      const [{ id }] = await query(
        `with process as (
           insert into delisting_process (workspace_id, ip, asked_count, unknown_count, not_pursued, created_at)
           values ($1, '192.0.2.1', 1, 0, '[]', now()) returning id)
         insert into delisting_step (process_id, zone, name, category, confirmed, first_answer, last_answer, method,
           plan, rank, status, request, next_at, deadline_at)
         select id, $3, 'X', 'major', true, $2::jsonb, $2::jsonb,
           'email', '{"email": "delist@list.test"}', 1, 'running', 'due', now(), now() + interval '1 day'
         from process returning id`,
        // One request goes to a list about an address in a week.
        [workspaceId, JSON.stringify(LISTED), `list-${people}.test`],
      )
      let ahead = 0
      const deps = {
        log,
        relay: mailRelay(),
        now: () => new Date(Date.now() + ahead),
        raiseAlert: async () => undefined,
        closeIncident: async () => undefined,
        isToldElsewhere: async () => false,
      }
      const stepOf = async (db: Db) => {
        const found = await findStep(db, id)
        if (!found) throw new Error('the step is missing')
        return found.step
      }
      return {
        async send(db) {
          const step = await stepOf(db)
          if (step.request === 'due') await sendRequest({ ...deps, db }, step)
          else if (isClaimed(step) && Number(step.nextAt) <= Number(deps.now()))
            await recordLost({ ...deps, db }, step)
        },
        expire: async () => (ahead = 11 * 60_000),
        async state() {
          const [{ state }] = await query('select state from delisting_request where step_id = $1', [id]) // prettier-ignore
          expect((await stepOf(database.db)).request).toBe(state)
          return { made: 'sent', unsure: 'uncertain' }[state as string] ?? state
        },
      }
    },
  },
}

const mailRelay = () => ({ smtpUrl: sink.url, from: 'portreeve@relay.test' })
const countSent = () => sink.mails.length + services.requests.length

/** A database whose connections stall at a statement until they resume. */
function openStalling({ at, nth = 1, when }: Stall) {
  const opened = openDatabase(database.url)
  const [reached, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let left = nth
  opened.pool.on('connect', (client: PoolClient) => {
    const send = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
    const stall = async () => {
      reached.resolve()
      await resumed.promise
    }
    client.query = (async (statement: string | { text: string }, ...rest: unknown[]) => {
      const text = typeof statement === 'string' ? statement : statement.text
      const isHere = at.test(text) && --left === 0
      if (isHere && when === 'before') await stall()
      const result = await send(statement, ...rest)
      if (isHere && when === 'after') await stall()
      return result
    }) as never
  })
  const { pool } = opened
  return {
    ...opened,
    /** Resolves when it has stalled, and all else that its sender does at once has ended. */
    async stalled() {
      await reached.promise
      await expect.poll(() => [pool.waitingCount, pool.totalCount - pool.idleCount]).toEqual([0, 1])
    },
    resume: () => resumed.resolve(),
  }
}

const CASES = Object.entries(OUTBOXES).flatMap(([name, outbox]) =>
  (Object.keys(POINTS) as Point[]).map((point) => [name, point, outbox] as const),
)

describe('a sender', () => {
  it.each(CASES)('of %s that dies or stalls %s sends nothing twice', async (_, point, table) => {
    const email = `person-${(people += 1)}@people.test`
    const { id } = await addAccount(database.db, { email, password: 'x', plan: 'pro' })
    const outbox = await table.prepare(id)
    const before = countSent()
    const sent = () => countSent() - before
    const { left, isSent, ...stall } = POINTS[point]
    const sender = openStalling(table.stalls?.[point] ?? stall)
    const first = outbox.send(sender.db)
    await Promise.race([sender.stalled(), first.then(() => expect.unreachable('did not stall'))])

    await outbox.expire()
    await outbox.send(database.db)
    expect([await outbox.state(), sent()]).toEqual([left, Number(isSent)])

    sender.resume()
    await first
    expect([await outbox.state(), sent()]).toEqual([left, 1])
    // Nor does anyone else send it.
    await outbox.send(database.db)
    expect([await outbox.state(), sent()]).toEqual([left, 1])
    await sender.close()
  })
})
