// Migrations through the service of this checkout and of another one of the repository, in turn.
// node bench/migration/turns.ts FOLDER [--shapes 3000in14,200x5,14x1] [--delays 0] [--rounds 3]
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { signIn } from '../../src/net/imap/connection/imap-session.ts'
import { startDovecot } from '../../test/servers/dovecot.ts'
import { accountOn } from './ours.ts'
import {
  measureDelay,
  medianOf,
  secondsOf,
  serviceAt,
  type Contender,
  type Ports,
} from './service.ts'
import { fillShape, SHAPES, type ShapeName } from './shapes.ts'
import type * as Start from '../webhooks/start.ts'

type Side = { name: string; service: ReturnType<typeof serviceAt>; processor: number[] }

type Options = { shapes: ShapeName[]; delays: number[]; rounds: number }

/** @param folder the other checkout */
async function run(folder: string, options: Options): Promise<string> {
  await using undo = new AsyncDisposableStack()
  const sides: Side[] = []
  for (const [name, root] of [
    ['before', resolve(folder)],
    ['now', join(import.meta.dirname, '../..')],
  ] as const) {
    // Each with the schema of its own version.
    const { startStore, startPortreeve } = (await import(
      join(root, 'bench/webhooks/start.ts')
    )) as typeof Start
    const store = await startStore('enterprise')
    undo.defer(() => store.stop())
    const portreeve = await startPortreeve(store, {
      ROLES: 'web,worker',
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    })
    undo.defer(() => portreeve.stop())
    sides.push({ name, service: serviceAt(portreeve, store.apiToken), processor: [] })
  }
  const lines = [
    '| mailbox, round trip | before s | now s | before, of now: median | rounds | processor before s | now s |',
    '| --- | --- | --- | --- | --- | --- | --- |',
  ]
  for (const shape of options.shapes) lines.push(...(await measureShape(shape, sides, options)))
  return lines.join('\n')
}

async function measureShape(
  shape: ShapeName,
  sides: readonly Side[],
  { delays, rounds }: Options,
): Promise<string[]> {
  const [source, destination] = await Promise.all([startDovecot(), startDovecot()])
  await source.addUser('source', 'secret')
  try {
    const filling = await signIn(accountOn(source.port, 'source'))
    const { folders, messages } = await fillShape(filling, shape)
    await filling.wire.logout()
    for (const { name, service } of sides) {
      await destination.addUser(`first-${name}`, 'secret')
      await secondsOf(() =>
        service.migrate([source.port, destination.port], `first-${name}`, folders),
      )
    }
    const contenders: Contender[] = sides.map((side) => ({
      name: side.name,
      copy: async (ports: Ports, user: string) => {
        const used = side.service.processorSeconds()
        await side.service.migrate(ports, user, folders)
        side.processor.push(side.service.processorSeconds() - used)
      },
    }))
    const lines: string[] = []
    for (const delay of delays) {
      for (const side of sides) side.processor = []
      const times = await measureDelay(
        delay,
        contenders,
        { source, destination, messages },
        { rounds },
      )
      lines.push(lineOf(`${SHAPES[shape].title}, ${delay} ms`, times, sides))
      console.error(lines.at(-1))
    }
    return lines
  } finally {
    await Promise.all([source.stop(), destination.stop()])
  }
}

function lineOf(
  title: string,
  times: ReadonlyMap<string, number[]>,
  sides: readonly Side[],
): string {
  const [before = [], now = []] = sides.map(({ name }) => times.get(name) ?? [])
  const ratios = before.map((seconds, round) => seconds / (now[round] ?? NaN))
  const text = (numbers: readonly number[]) => numbers.map((each) => each.toFixed(2)).join(', ')
  return `| ${[
    title,
    text([medianOf(before)]),
    text([medianOf(now)]),
    text([medianOf(ratios)]),
    text(ratios),
    ...sides.map(({ processor }) => text([medianOf(processor)])),
  ].join(' | ')} |`
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shapes: { type: 'string', default: '3000in14,200x5,14x1' },
    delays: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '3' },
  },
})
const [folder] = positionals
if (folder === undefined) throw new Error('usage: node bench/migration/turns.ts FOLDER')
console.log(
  await run(folder, {
    shapes: values.shapes.split(',') as ShapeName[],
    delays: values.delays.split(',').map(Number),
    rounds: Number(values.rounds),
  }),
)
