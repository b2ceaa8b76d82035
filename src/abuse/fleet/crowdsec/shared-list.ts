import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { DB } from '../../../store/tables.ts'
import type { Exports } from '../../export/exports.ts'
import { readPublished } from '../../export/publish.ts'
import {
  endedDecision,
  isWanted,
  sharedDecision,
  SHARED_ORIGIN,
  type DecisionFilter,
} from './decisions.ts'

/** The shared list as decisions, encoded once per version and not once per bouncer. */
export type SharedList = {
  /** All decisions that pass a filter, in pieces of JSON without brackets. */
  all(filter: DecisionFilter): { version: number; pieces: AsyncIterable<Buffer> }
  since(version: number, filter: DecisionFilter): Promise<SharedChanges>
  /** All decisions as ended ones, for a workspace that does not want the list any more. */
  ended(filter: DecisionFilter): Promise<string>
}

export type SharedChanges = { version: number; added: string; removed: string }

const DECISIONS_PER_PIECE = 2_000

type Encoded = { version: number; ip: Promise<Buffer[]>; range: Promise<Buffer[]> }

export function createSharedList(db: Kysely<DB>, exports: Exports): SharedList {
  let encoded: Encoded | undefined
  let changes = new Map<number, ReturnType<Exports['since']>>()
  let changesUntil = -1

  function encodeCurrent(): Encoded {
    const { version } = exports.current()
    if (encoded?.version === version) return encoded
    const entries = readPublished(db, null).then((rows) => rows.map(({ address }) => address))
    const made: Encoded = {
      version,
      ip: entries.then((all) => encode(all.filter((address) => !address.includes('/')))),
      range: entries.then((all) => encode(all.filter((address) => address.includes('/')))),
    }
    const forget = () => {
      if (encoded === made) encoded = undefined
    }
    made.ip.catch(forget)
    made.range.catch(forget)
    encoded = made
    return made
  }

  return {
    all(filter) {
      const { version, ip, range } = encodeCurrent()
      // All of them have the same origin and scenario; only the scope differs.
      const passes = (address: string) => isWanted(sharedDecision(address), filter)
      async function* pieces() {
        if (passes('192.0.2.1')) yield* await ip
        if (passes('2001:db8::/64')) yield* await range
      }
      return { version, pieces: pieces() }
    },
    async since(version, filter) {
      const { version: current } = exports.current()
      if (version === current) return { version, added: '', removed: '' }
      if (changesUntil !== current) [changes, changesUntil] = [new Map(), current]
      const known = changes.get(version) ?? exports.since(version)
      changes.set(version, known)
      known.catch(() => changes.delete(version))
      const difference = await known
      const added = difference.added.map(sharedDecision)
      const removed = difference.removed.map((address) => endedDecision(address, SHARED_ORIGIN))
      const wanted = (decisions: typeof added) =>
        textOf(decisions.filter((decision) => isWanted(decision, filter)))
      return { version: difference.version, added: wanted(added), removed: wanted(removed) }
    },
    async ended(filter) {
      const entries = await readPublished(db, null)
      const ended = entries.map(({ address }) => endedDecision(address, SHARED_ORIGIN))
      return textOf(ended.filter((decision) => isWanted(decision, filter)))
    },
  }
}

/** Other requests are answered between two pieces: a large list takes most of a second. */
async function encode(addresses: string[]): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  for (let at = 0; at < addresses.length; at += DECISIONS_PER_PIECE) {
    const part = addresses.slice(at, at + DECISIONS_PER_PIECE)
    pieces.push(Buffer.from(textOf(part.map(sharedDecision))))
    await nextTurn()
  }
  return pieces
}

/** JSON of an array, without its brackets. */
export const textOf = (items: object[]) => JSON.stringify(items).slice(1, -1)
