import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { ALERT_RAISED, raiseAlert } from '../../src/alerts/raise.ts'
import { notify } from '../../src/store/notifications.ts'
import { freshDatabase } from '../database.ts'
import { addAccount } from '../people.ts'
import { startInstance, type Instance } from '../deploy/instance.ts'
import { startAlertService } from '../servers/alert-service.ts'
import { startReceiver, status, type OnStep, type Step } from '../servers/receiver.ts'
import { SECRET_KEY, until } from './module.ts'

/** Services that do not recognise a repeated message, and one that does. */
const PLAIN = ['gotify', 'mattermost'] as const
const IDEMPOTENT = ['matrix'] as const

/** Alerts of a burst: few enough to be sent one by one. */
const BURST = 4

/** Milliseconds after which a message in transit belongs to an instance that died. */
const STUCK_MS = 2_000

export type Failover = Awaited<ReturnType<typeof startFailover>>

/**
 * Starts two service processes that share the work, with channels to contract fakes and a webhook.
 */
export async function startFailover() {
  const database = await freshDatabase()
  const { db, pool } = database
  let armed: { step: Step; left: number; killed: (pid: number) => void } | null = null
  const instances: Instance[] = []

  // Found at once: a sender that has its answer closes the connection.
  const senders = new WeakMap<Socket, Instance>()

  const onStep: OnStep = (step, socket) => {
    const { remotePort = 0 } = socket
    const sender =
      senders.get(socket) ?? instances.find(({ child }) => hasSocket(child.pid ?? 0, remotePort))
    if (sender) senders.set(socket, sender)
    if (armed?.step !== step || --armed.left > 0) return
    const pid = sender?.child.pid
    if (pid === undefined) return
    process.kill(pid, 'SIGKILL')
    armed.killed(pid)
    armed = null
  }
  const types = [...PLAIN, ...IDEMPOTENT]
  const services = await Promise.all(types.map((type) => startAlertService(type, onStep)))
  const receiver = await startReceiver(status(204), onStep)

  const env = {
    DATABASE_URL: database.url,
    SECRET_KEY,
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8,::1',
    DNS_SERVERS: '127.0.0.1:1',
  }
  instances.push(...(await Promise.all([startInstance(env), startInstance(env)])))
  const [first] = instances as [Instance]
  const email = 'alice@people.test'
  const { id: workspaceId } = await addAccount(db, {
    email,
    password: 'a password',
    plan: 'pro',
  })
  const { token } = await issueToken(db, { accountId: workspaceId, workspaceId }, 'tests')
  const bodies = [
    ...types.map((type, index) => ({ type, settings: services[index]?.settings })),
    { type: 'webhook', url: `${receiver.origin}/hook` },
  ]
  for (const body of bodies) {
    const answer = await fetch(`${first.url}/api/v1/alerts/channels`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect([body.type, answer.status]).toEqual([body.type, 201])
  }
  const names: string[] = []

  async function raiseBurst(): Promise<void> {
    await db.transaction().execute(async (trx) => {
      for (let n = 0; n < BURST; n++) {
        const name = `problem-${names.length}-`
        names.push(name)
        await raiseAlert(trx, {
          workspaceId,
          kind: 'blacklist.listed',
          key: name,
          incident: null,
          phase: 'once',
          severity: 'error',
          title: `${name} began`,
          text: 'Something happened.',
          nextStep: '',
          path: '/monitoring',
          at: new Date(),
        })
      }
    })
    // The time for which chats collect a burst has passed, and each has its tokens again.
    await pool.query(
      `update alert_message set created_at = created_at - interval '30 seconds' where state = 'waiting'`,
    )
    await pool.query('update alert_channel set tokens = null, tokens_at = null')
    await notify(db, ALERT_RAISED, workspaceId)
  }

  const messages = async () =>
    (
      await pool.query<{ id: string; state: string; type: string; title: string }>(
        `select m.id, m.state, c.type, a.title from alert_message m join alert_channel c on c.id = m.channel_id
         join alert_message_content t on t.message_id = m.id join alert a on a.id = t.alert_id
         where c.type <> 'email' order by m.id`,
      )
    ).rows

  /** Lets the claims of a dead instance expire, as the time does. */
  async function expireStuck(): Promise<void> {
    await pool.query(
      `update alert_message set claimed_until = now() - interval '1 second'
       where state in ('sending', 'handed-over')`,
    )
  }

  return {
    pool,
    messages,
    raiseBurst,
    /**
     * Kills the process that sends a message at this step of one of the requests of a burst. Starts
     * the one again that was killed before.
     * @param nth which of the steps
     */
    async killAt(step: Step, nth: number): Promise<void> {
      const dead = instances.findIndex(({ child }) => child.signalCode !== null)
      if (dead >= 0) instances[dead] = await startInstance(env)
      const killed = new Promise<number>(
        (resolve) => (armed = { step, left: nth, killed: resolve }),
      )
      await raiseBurst()
      const pid = await Promise.race([killed, sleep(20_000, NaN)])
      expect(pid, `nothing was sent to kill at “${step}”`).not.toBeNaN()
    },
    /** Waits until every message has ended. */
    async settled(expires = true, seconds = 60): Promise<void> {
      const end = Date.now() + seconds * 1_000
      let [last, since] = ['', Date.now()]
      for (;;) {
        const open = (await messages()).filter(({ state }) => !ENDED.includes(state))
        if (open.length === 0) return
        const now = JSON.stringify(open)
        if (now !== last) [last, since] = [now, Date.now()]
        const isStuck = Date.now() - since > STUCK_MS
        if (expires && isStuck) {
          await expireStuck()
          await notify(db, ALERT_RAISED, workspaceId)
          since = Date.now()
        }
        if (Date.now() > end) throw new Error(`still ${now}`)
        await sleep(100)
      }
    },
    /**
     * Checks that every alert arrived once on every channel, or is marked as uncertain.
     * @returns the number of uncertain deliveries
     */
    async checkOnce(): Promise<{ deliveries: number; uncertain: number }> {
      const all = await until(messages, (rows) => rows.length === names.length * bodies.length)
      for (const name of names) {
        const stateOf = (wanted: string) =>
          all.find(({ type, title }) => type === wanted && title === `${name} began`)?.state
        for (const [index, type] of types.entries()) {
          const { calls = [], violations } = services[index] ?? {}
          expect(violations).toEqual([])
          const about = calls.filter(({ body }) => body.includes(name))
          if (PLAIN.includes(type as 'gotify')) {
            const arrived = [type, name, stateOf(type), about.length]
            if (stateOf(type) === 'uncertain') expect(about.length, String(arrived)).toBeLessThan(2)
            else expect(arrived).toEqual([type, name, 'sent', 1])
          } else {
            // Repeated with the same ID, which the service recognises.
            const ids = new Set(about.map(({ url }) => url.pathname))
            expect([type, name, stateOf(type), ids.size]).toEqual([type, name, 'sent', 1])
          }
        }
        const hooks = receiver.received.filter(({ body }) => body.includes(name))
        const ids = new Set(hooks.map(({ headers }) => headers['webhook-id']))
        expect(['webhook', name, stateOf('webhook'), ids.size]).toEqual([
          'webhook',
          name,
          'sent',
          1,
        ])
      }
      const uncertain = all.filter(({ state }) => state === 'uncertain').length
      return { deliveries: all.length, uncertain }
    },
    async stop(): Promise<void> {
      await Promise.all(instances.map((instance) => instance.kill('SIGKILL')))
      await Promise.all([receiver.close(), ...services.map((service) => service.close())])
      await database.drop()
    },
  }
}

const ENDED = ['sent', 'failed', 'uncertain']

/** Whether a process has the connection from this local port, according to the kernel. */
function hasSocket(pid: number, port: number): boolean {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  const line = lines.find((text) => text.trim().split(/\s+/)[1]?.endsWith(`:${hex}`))
  const inode = line?.trim().split(/\s+/)[9]
  if (inode === undefined) return false
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).some((name) => linkOf(`${folder}/${name}`) === `socket:[${inode}]`)
  } catch {
    return false
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
