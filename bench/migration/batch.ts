// A batch of mailboxes through the service, beside bare copies of the same mailboxes: seconds,
// processor time of each server, and the memory of the worker.
// node bench/migration/batch.ts [mailboxes] [messages of each] [rounds]
import { followEvents } from '../../src/net/http/event-stream.ts'
import { signIn } from '../../src/net/imap/connection/imap-session.ts'
import { startDovecot } from '../../test/servers/dovecot.ts'
import { startMeasured } from '../process-usage.ts'
import { startPortreeve, startStore } from '../webhooks/start.ts'
import { bareCopy, countOf } from './bare.ts'
import { fillFolders } from './corpus.ts'
import { accountOn } from './ours.ts'

/** Mailboxes at once, of the service and of the bare copy. */
const AT_ONCE = 4
const MESSAGE_BYTES = 10_000

/** The folders of a mailbox, and their share of its messages. */
const FOLDERS = { INBOX: 0.5, Sent: 0.2, Archive: 0.2, 'Archive/2025': 0.06, Trash: 0.04 }

/** Returns the printed table. */
export async function run(mailboxes = 200, messages = 500, rounds = 5): Promise<string> {
  const users = Array.from({ length: mailboxes }, (_, index) => `user${index}`)
  const source = await startMeasured(() => startDovecot())
  const bare = await startMeasured(() => startDovecot())
  const destination = await startMeasured(() => startDovecot())
  try {
    for (const server of [source, bare, destination])
      for (const user of users) await server.addUser(user, 'secret')
    const filled = await fillMailboxes(source.port, users, messages)
    const service = await startBatches(source.port, destination.port)
    const before = service.peakMb()
    try {
      const lines = [
        `| round, mailboxes of ${filled} messages, ${MESSAGE_BYTES / 1_000} kB each | bare s | portreeve s | of bare | bare: ms of processor time a mailbox | its destination | its source | worker | PostgreSQL | destination | source | web |`,
        `|${' --- |'.repeat(12)}`,
      ]
      const sum = { bare: 0, portreeve: 0 }
      // In turn: the speed of a shared machine changes within minutes.
      for (const [index, part] of partsOf(users, rounds).entries()) {
        const alone = await measure(
          () =>
            atOnce(part, (user) =>
              bareCopy(source.port, bare.port, user, { connections: 1, from: user }),
            ),
          {
            process: ownSeconds,
            destination: bare.processorSeconds,
            source: source.processorSeconds,
          },
        )
        const ours = await measure(() => service.copy(part), {
          worker: service.worker,
          postgres: service.postgres,
          destination: destination.processorSeconds,
          source: source.processorSeconds,
          web: service.web,
        })
        sum.bare += alone.seconds
        sum.portreeve += ours.seconds
        const each = [...alone.processor, ...ours.processor].map((seconds) =>
          ((seconds / part.length) * 1_000).toFixed(0),
        )
        lines.push(lineOf(`${index + 1}, ${part.length}`, alone.seconds, ours.seconds, each))
      }
      for (const { port } of [bare, destination]) await requireAll(port, users, filled)
      lines.push(lineOf(`all, ${mailboxes}`, sum.bare, sum.portreeve, Array(8).fill('')))
      return [...lines, '', `Worker: ${before} MB before, ${service.peakMb()} MB at most.`].join(
        '\n',
      )
    } finally {
      await service.stop()
    }
  } finally {
    await Promise.all([source.stop(), bare.stop(), destination.stop()])
  }
}

function lineOf(title: string, bare: number, portreeve: number, each: string[]): string {
  const cells = [title, bare.toFixed(2), portreeve.toFixed(2), (bare / portreeve).toFixed(2)]
  return `| ${[...cells, ...each].join(' | ')} |`
}

function partsOf(users: string[], parts: number): string[][] {
  const size = Math.ceil(users.length / parts)
  return Array.from({ length: parts }, (_, index) =>
    users.slice(index * size, (index + 1) * size),
  ).filter((part) => part.length > 0)
}

const ownSeconds = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Seconds that `work` reports or takes, and the processor time of these processes meanwhile. */
async function measure(
  work: () => Promise<number | void>,
  processes: Record<string, () => number>,
): Promise<{ seconds: number; processor: number[] }> {
  const meters = Object.values(processes)
  const before = meters.map((read) => read())
  const began = performance.now()
  const reported = await work()
  const seconds = reported ?? (performance.now() - began) / 1_000
  return { seconds, processor: meters.map((read, index) => read() - (before[index] ?? 0)) }
}

/** @returns messages of each mailbox */
async function fillMailboxes(port: number, users: string[], messages: number): Promise<number> {
  const counts = new Map(
    Object.entries(FOLDERS).map(([name, share]) => [name, Math.round(messages * share)]),
  )
  await atOnce(users, async (user) => {
    const session = await signIn(accountOn(port, user))
    await fillFolders(session, counts, { messages, size: MESSAGE_BYTES })
    await session.wire.logout()
  })
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}

/** Starts the service, with its worker as a process of its own. */
async function startBatches(from: number, to: number) {
  const store = await startMeasured(() => startStore('enterprise'))
  const settings = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', MIGRATION_CONCURRENCY: String(AT_ONCE) }
  const web = await startPortreeve(store, { ...settings, ROLES: 'web' })
  const worker = await startPortreeve(store, {
    ...settings,
    ROLES: 'worker',
  })

  async function call(method: string, path: string, body?: object): Promise<Batch> {
    const response = await fetch(`${web.url}/api/v1/imap/batches${path}`, {
      method,
      headers: { authorization: `Bearer ${store.apiToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { error?: string; data: Batch & { batch?: Batch } }
    if (!response.ok) throw new Error(answer.error)
    return answer.data.batch ?? answer.data
  }
  const side = (port: number) => ({ host: '127.0.0.1', port, secure: false })
  return {
    peakMb: () => worker.peakMb(),
    worker: () => worker.processorSeconds(),
    web: () => web.processorSeconds(),
    postgres: () => store.processorSeconds(),
    /** @returns seconds until the last mailbox was in sync */
    async copy(users: string[]): Promise<number> {
      const { id } = await call('POST', '', {
        name: users[0],
        text: `user,password\n${users.map((user) => `${user},secret\n`).join('')}`,
        source: side(from),
        destination: side(to),
      })
      const began = Date.now()
      await call('POST', `/${id}/start`, {})
      // As a person does who has its page open: requests many times a second would take a part of
      // the service’s time.
      const url = new URL(`${web.url}/api/v1/imap/batches/${id}/events`)
      const stop = new AbortController()
      let ended = 0
      const token = store.apiToken
      for await (const { data } of followEvents(url, { token, after: null }, stop.signal)) {
        const { batch, mailboxes } = JSON.parse(data) as BatchEvent
        for (const { syncedAt } of mailboxes)
          ended = Math.max(ended, syncedAt === null ? 0 : Date.parse(syncedAt))
        if ((batch.counts['needs_attention'] ?? 0) > 0) throw new Error(data)
        if (batch.counts['in_sync'] === users.length) break
      }
      stop.abort()
      return (ended - began) / 1_000
    },
    async stop() {
      await Promise.all([web.stop(), worker.stop()])
      await store.stop()
    },
  }
}

type Batch = { id: string; counts: Record<string, number> }
type BatchEvent = { batch: Batch; mailboxes: { syncedAt: string | null }[] }

async function atOnce(users: string[], work: (user: string) => Promise<unknown>): Promise<void> {
  const waiting = [...users]
  const runner = async () => {
    for (let user = waiting.shift(); user; user = waiting.shift()) await work(user)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, runner))
}

async function requireAll(port: number, users: string[], messages: number): Promise<void> {
  for (const user of users) {
    const there = await countOf(port, user)
    if (there !== messages) throw new Error(`${user} has ${there} of ${messages} messages`)
  }
}

if (import.meta.main) {
  const [mailboxes, messages, rounds] = process.argv.slice(2).map(Number)
  console.log(await run(mailboxes, messages, rounds))
}
