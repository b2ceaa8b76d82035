import * as fc from 'fast-check'
import { expect } from 'vitest'
import { createLog } from '../../src/log.ts'
import type { MigrationNote } from '../../src/migration/engine/context.ts'
import { retryFailed } from '../../src/migration/engine/journal/journal.ts'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { migrateMailbox } from '../../src/migration/engine/migrate.ts'
import type { MigrationOutcome } from '../../src/migration/engine/outcome.ts'
import {
  HONEST,
  startImapModel,
  type ImapModel,
  type Mischief,
  type ModelMessage,
} from '../servers/imap-model.ts'
import { accountOn, momentOf } from './mailbox.ts'
import { waitTimes } from './run.ts'

const FOLDERS = ['INBOX', 'Archive'] as const

type Kind = { kind: number; flags: string; day: number }

export type Scenario = {
  source: Record<string, Kind[]>
  destination: Record<string, Kind[]>
  deduplicate: boolean
  hasUidPlus: boolean
  /** At the source and at the destination, in the first run. */
  here: Mischief
  there: Mischief
}

const kind = fc.record({
  kind: fc.nat(11),
  flags: fc.constantFrom('', '\\Seen', '\\Flagged \\Seen', 'work'),
  day: fc.integer({ min: 1, max: 3 }),
})

const contents = (maxLength: number) =>
  fc.record({ INBOX: fc.array(kind, { maxLength }), Archive: fc.array(kind, { maxLength: 4 }) })

const often = <T>(honest: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(honest) }, { weight: 1, arbitrary: other })

const omits = fc.integer({ min: 1, max: 3 })
const times = fc.constantFrom(1, 2, 1_000)

const lies = (isDestination: boolean): fc.Arbitrary<Mischief> =>
  fc.record({
    exists: often(0, fc.integer({ min: -2, max: 3 })),
    status: often(0, fc.integer({ min: -2, max: 3 })),
    search: often(
      HONEST.search,
      fc.record({ omits, adds: isDestination ? fc.constant(0) : fc.nat(1), times }),
    ),
    fetch: often(HONEST.fetch, fc.record({ omits, addsOther: fc.boolean(), times })),
    bodies: often(HONEST.bodies, fc.record({ omits, times, after: fc.nat(2) })),
    drops: isDestination ? often(0, fc.integer({ min: 1, max: 3 })) : fc.constant(0),
    keepsOne: isDestination ? often(false, fc.constant(true)) : fc.constant(false),
    isReversed: fc.boolean(),
    splits: often(false, fc.constant(true)),
    events: fc.array(
      fc.record({
        at: fc.integer({ min: 4, max: 40 }),
        does: fc.constantFrom(
          'hang-up' as const,
          'hang-up' as const,
          'hang-up-after' as const,
          'hang-up-after' as const,
          'refuse' as const,
          'busy' as const,
          'bad' as const,
          'renumber' as const,
          'expunge-first' as const,
          'expunge-last' as const,
          'receive' as const,
        ),
      }),
      { maxLength: 3 },
    ),
  })

export const scenario: fc.Arbitrary<Scenario> = fc
  .record({
    source: contents(9),
    destination: contents(3),
    deduplicate: fc.boolean(),
    hasUidPlus: fc.boolean(),
    here: lies(false),
    there: lies(true),
  })
  // Gmail, which keeps equal messages once, reports the UIDs of copies.
  .map(({ there, ...played }) => ({
    ...played,
    there: { ...there, keepsOne: there.keepsOne && played.hasUidPlus },
  }))

/** Messages 0 to 5 differ; 6 to 8 share a Message-ID and their size, 9 to 11 have none. */
function messageOf({ kind: number, flags, day }: Kind): ModelMessage {
  const id = number > 8 ? '' : `Message-ID: <m${number > 5 ? 'same' : number}@x.test>\r\n`
  return {
    body: `${id}From: a@x.test\r\nSubject: s\r\n\r\ntext ${String(number).padStart(2, '0')}\r\n`,
    flags,
    date: `0${day}-Jul-2024 08:09:10 +0000`,
  }
}

const messagesOf = (kinds: Record<string, Kind[]>) =>
  Object.fromEntries(Object.entries(kinds).map(([path, some]) => [path, some.map(messageOf)]))

/** Milliseconds that an honest server would not notice. */
const WAIT_TIMES = {
  ...waitTimes,
  quietMs: 2,
  reconnectMs: { first: 1, most: 3 },
  slowDownMs: { first: 1, most: 3 },
}

/** Runs after the first one, on honest servers, in which everything must be copied. */
const MAX_RETRIES = 3

/**
 * Migrates between two servers that lie and change, then again between the same servers, honest now,
 * and throws when a message is missing without an error, is there twice, or is changed.
 */
export async function checkScenario(played: Scenario): Promise<void> {
  const source = await startImapModel(messagesOf(played.source))
  // An empty folder has to be created.
  const there = Object.entries(played.destination).filter(([, messages]) => messages.length > 0)
  const destination = await startImapModel(messagesOf(Object.fromEntries(there)), played)
  try {
    await play(played, source, destination)
  } finally {
    await Promise.all([source.close(), destination.close()])
  }
}

async function play(played: Scenario, source: ImapModel, destination: ImapModel): Promise<void> {
  const journal = createMemoryJournal()
  const before = stateOf(destination)
  const signal = AbortSignal.timeout(30_000)
  const run = (withNewMail: boolean, notes: readonly MigrationNote[] = []) =>
    migrateMailbox({
      notes,
      source: { account: accountOn(source.port) },
      destination: { account: accountOn(destination.port) },
      folders: [...FOLDERS],
      options: { deduplicate: played.deduplicate, withNewMail },
      journal,
      signal,
      log: createLog('silent'),
      waitTimes: WAIT_TIMES,
    })
  const atStart = stateOf(source)
  source.behave(played.here)
  destination.behave(played.there)
  const first = await run(false)
  const checked = { ...played, before, source, destination }
  check({ ...checked, atStart, hidden: hiddenBy(played.here) }, first, journal.failures)

  const { exists, status, search, events } = played.here
  const isTrueLater = search.adds > 0 || events.some(({ does }) => does === 'receive')
  // What no listing has is an error, although no message is missing.
  if (Math.max(exists, status) > 0 && !isTrueLater) expect(first.state).toBe('failed')

  source.behave(HONEST)
  destination.behave({ ...HONEST, keepsOne: played.there.keepsOne })
  let { notes } = first
  for (let tries = 1; ; tries++) {
    for (const [path, state] of await journal.loadAll())
      await journal.save(path, retryFailed(state), [])
    const known = journal.failures.length
    const again = await run(true, notes)
    notes = again.notes
    const failures = journal.failures.slice(known)
    check({ ...checked, atStart: stateOf(source), hidden: 0 }, again, failures)
    if (again.state === 'completed') return
    expect(tries, JSON.stringify(failures)).toBeLessThan(MAX_RETRIES)
  }
}

/**
 * Messages of each folder that no client can know of: EXISTS and STATUS claim fewer than there are,
 * and the listing leaves out as many. STATUS, the first answer, does not count what arrives later.
 * Those of the destination are sent again where a connection broke.
 */
function hiddenBy({ exists, status, search, fetch, events }: Mischief): number {
  const hides = search.omits > 0 || fetch.omits > 0
  const arrived = events.filter(({ does }) => does === 'receive').length
  return hides ? Math.max(0, -Math.max(exists, status - arrived)) : 0
}

type State = Map<string, ModelMessage[]>

const stateOf = ({ folders }: ImapModel): State =>
  new Map([...folders].map(([path, { messages }]) => [path, [...messages]]))

type Checked = Pick<Scenario, 'deduplicate' | 'here' | 'there'> & {
  atStart: State
  hidden: number
  /** Of the destination. */
  before: State
  source: ImapModel
  destination: ImapModel
}

function check(
  checked: Checked,
  { state, notes, progress }: MigrationOutcome,
  failures: readonly { folder: string; uid: number | null; code: string }[],
): void {
  const { deduplicate, source, destination, here, there } = checked
  expect(state === 'failed').toBe(failures.length > 0)
  expect(progress.errorCount > 0).toBe(state === 'failed')
  expect(failures.map(({ code }) => code)).not.toContain('unaccounted')
  const happened = (side: Mischief, does: string) => side.events.filter((e) => e.does === does)
  const isRenumbered = [here, there].some((side) => happened(side, 'renumber').length > 0)
  const expunged = ['expunge-first', 'expunge-last'].flatMap((does) => happened(there, does)).length
  for (const path of FOLDERS) {
    const present = new Set(source.folders.get(path)?.messages)
    const required = (checked.atStart.get(path) ?? []).filter((each) => present.has(each as never))
    const ever = source.history.get(path) ?? []
    const stored = destination.folders.get(path)?.messages ?? []
    const earlier = checked.before.get(path) ?? []
    const bodies = new Set([...required, ...ever].map(({ body }) => body))
    const its = failures.filter(({ folder }) => folder === path || folder === '')
    const excused = its.some(({ uid }) => uid === null) ? Infinity : its.length
    const noted = notes.filter(
      ({ folder, message }) =>
        folder === path && /same Message-ID|equal messages once/.test(message),
    ).length
    let missing = 0
    for (const body of bodies) {
      const count = (messages: readonly ModelMessage[]) =>
        messages.filter((each) => each.body === body).length
      const [wanted, had, has, were] = [required, earlier, stored, ever].map(count) as [
        number,
        number,
        number,
        number,
      ]
      const isKept = deduplicate || isRenumbered || there.keepsOne
      const copies = isKept ? has : has - had
      missing += Math.max(0, (there.keepsOne ? Math.min(wanted, 1) : wanted) - copies)
      const most = (deduplicate ? Math.max(had, were) : had + were) + hiddenBy(there)
      expect(has, `${path}: ${body} is there too often`).toBeLessThanOrEqual(most)
    }
    expect(missing, `${path}: missing of ${required.length}`).toBeLessThanOrEqual(
      excused + noted + expunged + checked.hidden,
    )
    const own = new Set(destination.history.get(path)?.filter((each) => /^new/m.test(each.body)))
    const isUndescribed = notes.some(({ folder }) => folder === path)
    for (const message of stored) {
      const same = [...ever, ...earlier].filter(({ body }) => body === message.body)
      if (own.size === 0 && !message.body.includes('<new'))
        expect(same.length, `${path}: ${message.body} is not of the source`).toBeGreaterThan(0)
      if (!isUndescribed && same.length > 0)
        expect(same.map(detailsOf)).toContain(detailsOf(message))
    }
  }
}

function detailsOf({ flags, date }: ModelMessage): string {
  return `${flags.split(' ').toSorted().join(' ')} ${momentOf(date)}`
}
