import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Db } from './database.ts'
import { createClient } from './servers/connect.ts'

/**
 * Notifications between instances through the database. A notification says that something changed;
 * the row has the data.
 */
export type Notifications = {
  /**
   * Subscribes to a channel.
   * @returns ends the subscription
   */
  on(channel: string, handler: (payload: unknown) => void): () => void
  /** Called after notifications may have been missed: read the data again. */
  onReconnect(handler: () => void): () => void
  close: () => Promise<void>
}

/** All channels share one PostgreSQL channel, so that subscribing needs no statement. */
const CHANNEL = 'portreeve'

/** NOTIFY accepts payloads shorter than this. */
const PAYLOAD_LIMIT_BYTES = 8_000

/** Also notices for all connections of the process that the server is gone without a word. */
const HEARTBEAT_MS = 5_000
const HEARTBEAT_DEADLINE_MS = 5_000
const BACK_OFF = { first: 100, most: 10_000 }

/**
 * Sends a notification to every instance, including this one; within a transaction, when it
 * commits.
 * @param payload JSON of up to about 7,900 bytes
 */
export async function notify(db: Db, channel: string, payload: unknown): Promise<void> {
  await notifyAll(db, [[channel, payload]])
}

export type Notification = [channel: string, payload: unknown]

/** Sends several notifications likewise, in one round trip. */
export async function notifyAll(db: Db, notifications: readonly Notification[]): Promise<void> {
  const texts = notifications.map(
    ([channel, payload]) => notificationArguments(channel, payload)[1],
  )
  await sql`select pg_notify(${CHANNEL}, text) from unnest(${texts}::text[]) as sent(text)`.execute(
    db,
  )
}

/** The arguments of `pg_notify`, for code without Kysely. */
export function notificationArguments(
  channel: string,
  payload: unknown,
): [channel: string, text: string] {
  const text = JSON.stringify([channel, payload])
  if (Buffer.byteLength(text) >= PAYLOAD_LIMIT_BYTES)
    throw new RangeError(`signal ${channel} is too long: send an id, not the thing`)
  return [CHANNEL, text]
}

/**
 * Listens on a connection of its own, and reconnects when it breaks.
 * @throws errors of the first connection
 */
export async function openNotifications(url: string, log: Logger): Promise<Notifications> {
  const handlers = new Map<string, Set<(payload: unknown) => void>>()
  const reconnected = new Set<() => void>()
  const closing = new AbortController()
  const closed = once(closing.signal, 'abort')
  let connection = await listen(url, receive)
  const upkeep = keepUp()

  function receive(text: string): void {
    const [channel, payload] = JSON.parse(text) as [string, unknown]
    for (const handler of handlers.get(channel) ?? []) attempt(() => handler(payload))
  }

  function attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      log.error({ err: error }, 'a signal was not handled')
    }
  }

  async function keepUp(): Promise<void> {
    for (;;) {
      await Promise.race([connection.broken, closed])
      if (closing.signal.aborted) return
      log.warn('the connection for signals broke: making a new one')
      await reconnect()
    }
  }

  async function reconnect(): Promise<void> {
    for (
      let wait = BACK_OFF.first;
      !closing.signal.aborted;
      wait = Math.min(wait * 2, BACK_OFF.most)
    ) {
      try {
        connection = await listen(url, receive)
        return reconnected.forEach(attempt)
      } catch (error) {
        log.debug({ wait }, `no connection for notifications: ${messageOf(error)}`)
        await sleep(wait, undefined, { signal: closing.signal }).catch(() => {})
      }
    }
  }

  return {
    on: (channel, handler) => {
      const those = handlers.get(channel) ?? new Set()
      handlers.set(channel, those.add(handler))
      return () => void those.delete(handler)
    },
    onReconnect: (handler) => {
      reconnected.add(handler)
      return () => void reconnected.delete(handler)
    },
    async close() {
      closing.abort()
      await upkeep
      await connection.end()
    },
  }
}

type Connection = { broken: Promise<void>; end(): Promise<void> }

async function listen(url: string, receive: (text: string) => void): Promise<Connection> {
  const client = createClient(url, {
    application_name: 'portreeve notifications',
    connectionTimeoutMillis: HEARTBEAT_DEADLINE_MS,
    query_timeout: HEARTBEAT_DEADLINE_MS,
    keepAlive: true,
  })
  client.on('error', () => {})
  client.on('notification', ({ payload }) => receive(payload ?? 'null'))
  const broken = new Promise<void>((resolve) => client.once('end', () => resolve()))
  try {
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
  // A connection that broke silently is detected only by a query.
  const heartbeat = setInterval(
    () => void client.query('select 1').catch(() => client.connection.stream.destroy()),
    HEARTBEAT_MS,
  )
  void broken.then(() => clearInterval(heartbeat))
  return { broken, end: () => client.end() }
}
