// Migrations through the service, from the request to `completed`, over mailboxes as people have
// them, beside mbsync and the bare copy in the same run.
// node bench/migration/service.ts [--shapes 14x1,200x5] [--delays 0,30] [--rounds 3] [--without bare]
// All shapes take some fifteen minutes, most of them mbsync's.
import { parseArgs } from 'node:util'
import { followEvents } from '../../src/net/http/event-stream.ts'
import { signIn } from '../../src/net/imap/connection/imap-session.ts'
import { startDovecot } from '../../test/servers/dovecot.ts'
import type { MailServer } from '../../test/servers/mail-server.ts'
import { startProxy } from '../../test/servers/proxy.ts'
import { startPortreeve, startStore, type Program } from '../webhooks/start.ts'
import { bareCopy, countOf, mbsync } from './bare.ts'
import { accountOn } from './ours.ts'
import { fillShape, SHAPES, type ShapeName } from './shapes.ts'

export type Ports = readonly [source: number, destination: number]
export type Contender = { name: string; copy: (ports: Ports, user: string) => Promise<unknown> }
type Service = {
  migrate(ports: Ports, user: string, folders: string[]): Promise<void>
  processorSeconds: () => number
}

type Options = {
  shapes: ShapeName[]
  /** Milliseconds of round trip, on both legs. */
  delays: number[]
  rounds: number
  without: string[]
}

const DEFAULTS: Options = {
  shapes: ['14x1', '200x5', '300in14', '3000in14', '1x50000', '200MB'],
  delays: [0, 30, 150],
  rounds: 3,
  without: [],
}

/** A contender that took longer is not run again. */
const REPEAT_BELOW_SECONDS = 20

/** Returns the printed table. */
export async function run(options: Options = DEFAULTS): Promise<string> {
  const store = await startStore('enterprise')
  const portreeve = await startPortreeve(store, {
    ROLES: 'web,worker',
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  })
  const lines = [
    '| mailbox, round trip | mbsync s | bare s | portreeve s | times mbsync | of bare | processor s | first s |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
  ]
  try {
    const service = serviceAt(portreeve, store.apiToken)
    for (const shape of options.shapes) lines.push(...(await measureShape(shape, service, options)))
    return [...lines, '', `resident: ${portreeve.residentMb()} MB at the end`].join('\n')
  } finally {
    await portreeve.stop()
    await store.stop()
  }
}

async function measureShape(
  shape: ShapeName,
  service: Service,
  options: Options,
): Promise<string[]> {
  const [source, destination] = await Promise.all([startDovecot(), startDovecot()])
  await source.addUser('source', 'secret')
  try {
    const filling = await signIn(accountOn(source.port, 'source'))
    const { folders, messages } = await fillShape(filling, shape)
    await filling.wire.logout()
    let processor: number[] = []
    const contenders = [
      { name: 'mbsync', copy: (ports: Ports, user: string) => mbsync(...ports, user) },
      {
        name: 'bare',
        copy: (ports: Ports, user: string) => bareCopy(...ports, user, { connections: 4 }),
      },
      {
        name: 'portreeve',
        copy: async (ports: Ports, user: string) => {
          const before = service.processorSeconds()
          await service.migrate(ports, user, folders)
          processor.push(service.processorSeconds() - before)
        },
      },
    ].filter(({ name }) => !options.without.includes(name))
    const lines: string[] = []
    // A service runs for weeks: its first migration, with cold code, is reported and not counted.
    await destination.addUser('first', 'secret')
    const first = await secondsOf(() =>
      service.migrate([source.port, destination.port], 'first', folders),
    )
    for (const delay of options.delays.filter((ms) => SHAPES[shape].delays.includes(ms))) {
      processor = []
      const sides = { source, destination, messages }
      const times = await measureDelay(delay, contenders, sides, options)
      const title = `${SHAPES[shape].title}, ${delay} ms`
      const firstSeconds = lines.length === 0 ? first.toFixed(2) : ''
      lines.push(`${lineOf(title, times)} ${medianOf(processor).toFixed(2)} | ${firstSeconds} |`)
      console.error(lines.at(-1))
    }
    return lines
  } finally {
    await Promise.all([source.stop(), destination.stop()])
  }
}

type Sides = { source: MailServer; destination: MailServer; messages: number }

/** Every contender once a round, in turn, each into a new account; seconds by name. */
export async function measureDelay(
  roundTrip: number,
  contenders: Contender[],
  { source, destination, messages }: Sides,
  { rounds }: Pick<Options, 'rounds'>,
): Promise<Map<string, number[]>> {
  const proxies = await Promise.all(
    [source, destination].map(({ port }) => startProxy(port, { roundTrip })),
  )
  const [near = 0, far = 0] = proxies.map(({ port }) => port)
  const ports = roundTrip > 0 ? ([near, far] as const) : ([source.port, destination.port] as const)
  const times = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  try {
    for (let round = 0; round < rounds; round++)
      for (const { name, copy } of contenders) {
        const user = `u${roundTrip}-${round}-${name}`
        const known = times.get(name) ?? []
        if (known.some((seconds) => seconds > REPEAT_BELOW_SECONDS)) continue
        await destination.addUser(user, 'secret')
        known.push(await secondsOf(() => copy(ports, user)))
        const there = await countOf(destination.port, user)
        if (there !== messages) throw new Error(`${name} copied ${there} of ${messages} messages`)
      }
    return times
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.close()))
  }
}

export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1_000
}

/** The API of a running service. */
export function serviceAt({ url, processorSeconds }: Program, token: string): Service {
  const request = async (path: string, body?: unknown) => {
    const response = await fetch(`${url}/api/v1/imap/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const answer = (await response.json()) as { migrationId: string; status: string }
    if (!response.ok) throw new Error(JSON.stringify(answer))
    return answer
  }
  const side = (port: number, user: string) => ({
    host: '127.0.0.1',
    port,
    secure: false,
    user,
    password: 'secret',
  })
  return {
    processorSeconds,
    async migrate([near, far], user, folders) {
      const { migrationId } = await request('migrate', {
        source: side(near, 'source'),
        destination: side(far, user),
        folders,
      })
      // Requests for the status, many times a second, would take a part of the service's time.
      const stop = new AbortController()
      const events = new URL(`${url}/api/v1/imap/migrate/${migrationId}/events`)
      for await (const event of followEvents(events, { token, after: null }, stop.signal)) {
        const { status } = JSON.parse(event.data) as { status?: string }
        if (status === 'failed') throw new Error(event.data)
        if (status === 'completed') return stop.abort()
      }
      throw new Error('the event stream ended before the migration')
    },
  }
}

function lineOf(title: string, times: ReadonlyMap<string, number[]>): string {
  const [peer, bare, own] = ['mbsync', 'bare', 'portreeve'].map((name) =>
    medianOf(times.get(name) ?? []),
  ) as [number, number, number]
  const cells = [title, ...[peer, bare, own].map((seconds) => seconds.toFixed(2))]
  return `| ${[...cells, (peer / own).toFixed(1), (bare / own).toFixed(2)].join(' | ')} |`
}

export function medianOf(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN
}

function optionsOf(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      shapes: { type: 'string', default: DEFAULTS.shapes.join(',') },
      delays: { type: 'string', default: DEFAULTS.delays.join(',') },
      rounds: { type: 'string', default: String(DEFAULTS.rounds) },
      without: { type: 'string', default: '' },
    },
  })
  return {
    shapes: values.shapes.split(',') as ShapeName[],
    delays: values.delays.split(',').map(Number),
    rounds: Number(values.rounds),
    without: values.without.split(','),
  }
}

if (import.meta.main) console.log(await run(optionsOf(process.argv.slice(2))))
