import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { findBans } from '../bans/fleet-bans.sql.ts'
import { readDelta } from '../feed/fleet-feed.sql.ts'
import { findFleet } from '../fleet.sql.ts'
import type { TokenOwner } from '../../abuse/tokens/report-tokens.sql.ts'
import { textOf } from './decision-encoder.ts'
import {
  endedDecision,
  fleetDecision,
  FLEET_ORIGIN,
  isWanted,
  type Decision,
  type DecisionFilter,
} from './decisions.ts'
import { feedsPart } from './feeds-part.ts'
import { sharedPart } from './shared-part.ts'
import type { BouncerKey, BouncerState } from './fleet-bouncers.sql.ts'
import type { Pieces, StreamContext, StreamDeps, StreamPart } from './stream-part.ts'

export type StreamRequest = {
  token: TokenOwner
  bouncer: BouncerKey
  startup: boolean
  filter: DecisionFilter
}

/** A body of decisions, and what the bouncer has once it has received all of it. */
export type DecisionStream = { body: Readable; state: BouncerState }

/** Everything at startup, and afterwards the changes since what the bouncer received last. */
export async function streamDecisions(
  deps: StreamDeps,
  { token, bouncer, startup, filter }: StreamRequest,
): Promise<DecisionStream> {
  const known = startup ? undefined : await deps.bouncers.find(bouncer)
  const { workspaceId } = token
  const context: StreamContext = { deps, workspaceId, known, filter }
  const fleet = await findFleet(deps.db, workspaceId)
  const shared = await sharedPart(context, fleet?.servesShared === true)
  const feeds = await feedsPart(context, fleet?.feeds ?? [])
  const bans = await fleetPart(context, [...shared.removed, ...feeds.removed])
  const parts = [bans, shared, feeds]
  const { renewed, ended } = await endDecisions(parts, filter)
  const added = [...parts.flatMap((part) => part.added), [textOf(renewed)]]
  return {
    body: Readable.from(jsonOf(added, [[textOf(ended)]])),
    state: Object.assign({}, ...parts.map(({ state }) => state)) as BouncerState,
  }
}

/** @param leaving addresses that left other lists */
async function fleetPart(context: StreamContext, leaving: string[]): Promise<StreamPart> {
  const { deps, workspaceId, known, filter } = context
  const delta = await readDelta(deps.db, workspaceId, known?.cursor ?? null)
  const now = deps.clock()
  const added = delta.added
    .map((entry) => fleetDecision(entry, now))
    .filter((decision) => isWanted(decision, filter))
  const bans = leaving.length === 0 ? [] : await findBans(deps.db, workspaceId, leaving)
  const active = new Map(
    bans.flatMap(({ address, expiresAt, change, sightings }) => {
      if (expiresAt === null || expiresAt <= now) return []
      const { service = '' } = sightings.at(-1) ?? {}
      return [[address, fleetDecision({ address, expiresAt, change, service }, now)] as const]
    }),
  )
  return {
    added: [[textOf(added)]],
    removed: delta.removed,
    origin: FLEET_ORIGIN,
    finder: async () => (value) => active.get(value),
    state: { cursor: delta.cursor },
  }
}

/** Addresses between which other requests get their turn. */
const ENDED_PER_TURN = 2_000

/**
 * The decisions that end. Bouncers know an address once, whatever lists have it: one that another
 * list still has is sent again instead.
 */
async function endDecisions(
  parts: StreamPart[],
  filter: DecisionFilter,
): Promise<{ renewed: Decision[]; ended: Decision[] }> {
  const [renewed, ended]: [Decision[], Decision[]] = [[], []]
  for (const part of parts) {
    if (part.removed.length === 0) continue
    const others = parts.filter((other) => other !== part)
    const finders = await Promise.all(others.map((other) => other.finder()))
    for (const [index, value] of part.removed.entries()) {
      const decision = endedDecision(value, part.origin)
      const found = finders.flatMap((find) => find(value) ?? [])
      const remaining = found.find((one) => isWanted(one, filter))
      if (remaining) renewed.push(remaining)
      else if (isWanted(decision, filter)) ended.push(decision)
      if (index % ENDED_PER_TURN === ENDED_PER_TURN - 1) await nextTurn()
    }
  }
  return { renewed, ended }
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
