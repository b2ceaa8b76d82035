import { Readable } from 'node:stream'
import type { Kysely } from 'kysely'
import type { DB } from '../../../store/tables.ts'
import type { TokenOwner } from '../../tokens/store.ts'
import { readDelta } from '../feed/store.ts'
import { findFleet } from '../store.ts'
import type { Bouncers } from './bouncers.ts'
import {
  endedDecision,
  fleetDecision,
  FLEET_ORIGIN,
  isWanted,
  SHARED_SECONDS,
  type Decision,
  type DecisionFilter,
} from './decisions.ts'
import { textOf, type SharedList } from './shared-list.ts'
import type { BouncerKey, BouncerState } from './store.ts'

export type StreamDeps = {
  db: Kysely<DB>
  bouncers: Bouncers
  sharedList: SharedList
  clock: () => number
}

export type StreamRequest = {
  token: TokenOwner
  bouncer: BouncerKey
  startup: boolean
  filter: DecisionFilter
}

/** A body of decisions, and what the bouncer has once it has received all of it. */
export type DecisionStream = { body: Readable; state: BouncerState }

/** The shared list is sent again after this time, before its decisions end on the bouncer. */
const SHARED_AGAIN_MS = (SHARED_SECONDS * 1000) / 2

/** Everything at startup, and afterwards the changes since what the bouncer received last. */
export async function streamDecisions(
  deps: StreamDeps,
  { token, bouncer, startup, filter }: StreamRequest,
): Promise<DecisionStream> {
  const known = startup ? undefined : await deps.bouncers.find(bouncer)
  const now = deps.clock()
  const delta = await readDelta(deps.db, token.workspaceId, known?.cursor ?? null)
  const wanted = (decision: Decision) => isWanted(decision, filter)
  const added = delta.added.map((entry) => fleetDecision(entry, now)).filter(wanted)
  const removed = delta.removed.map((ip) => endedDecision(ip, FLEET_ORIGIN)).filter(wanted)
  const fleet = await findFleet(deps.db, token.workspaceId)
  const shared = await readShared(deps, known, filter, fleet?.servesShared === true)
  return {
    body: Readable.from(
      jsonOf([[textOf(added)], shared.added], [[textOf(removed), ...shared.removed]]),
    ),
    state: { cursor: delta.cursor, ...shared.state },
  }
}

/** JSON of decisions without brackets; large lists arrive while the first ones are sent. */
type Pieces = Iterable<string> | AsyncIterable<Buffer>

type SharedPart = {
  added: Pieces
  removed: string[]
  state: Pick<BouncerState, 'sharedVersion' | 'sharedAt'>
}

async function readShared(
  { sharedList, clock }: StreamDeps,
  known: BouncerState | undefined,
  filter: DecisionFilter,
  isServed: boolean,
): Promise<SharedPart> {
  const { sharedVersion = null, sharedAt = null } = known ?? {}
  if (!isServed) {
    const removed = sharedVersion === null ? [] : [await sharedList.ended(filter)]
    return { added: [], removed, state: { sharedVersion: null, sharedAt: null } }
  }
  if (sharedVersion === null || sharedAt === null || clock() - sharedAt > SHARED_AGAIN_MS) {
    const { version, pieces } = sharedList.all(filter)
    return { added: pieces, removed: [], state: { sharedVersion: version, sharedAt: clock() } }
  }
  const { version, added, removed } = await sharedList.since(sharedVersion, filter)
  return { added: [added], removed: [removed], state: { sharedVersion: version, sharedAt } }
}

async function* jsonOf(added: Pieces[], removed: Pieces[]): AsyncGenerator<string | Buffer> {
  yield '{"new":['
  yield* separated(added)
  yield '],"deleted":['
  yield* separated(removed)
  yield ']}\n'
}

async function* separated(parts: Pieces[]): AsyncGenerator<string | Buffer> {
  let isFirst = true
  for (const part of parts) {
    for await (const piece of part) {
      if (piece.length === 0) continue
      if (!isFirst) yield ','
      isFirst = false
      yield piece
    }
  }
}
