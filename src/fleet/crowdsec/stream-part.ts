import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import type { Exports } from '../../abuse/export/exports.ts'
import type { SharedSet } from '../../abuse/export/shared-set.ts'
import type { FeedLists } from '../public-feeds/feed-lists.ts'
import type { FeedSelections } from '../public-feeds/feed-selection.ts'
import type { Bouncers } from './bouncers.ts'
import type { DecisionEncoder } from './decision-encoder.ts'
import type { Decision, DecisionFilter } from './decisions.ts'
import type { BouncerState } from './fleet-bouncers.sql.ts'

export type StreamDeps = {
  db: Kysely<DB>
  bouncers: Bouncers
  exports: Exports
  sharedSet: SharedSet
  feedSelections: FeedSelections
  feedLists: FeedLists
  encode: DecisionEncoder
  clock: () => number
}

export type StreamContext = {
  deps: StreamDeps
  workspaceId: string
  /** What the bouncer has; undefined for nothing. */
  known: BouncerState | undefined
  filter: DecisionFilter
}

/** JSON of decisions without brackets; large lists arrive while the first ones are sent. */
export type Pieces = Iterable<string> | AsyncIterable<Buffer>

/** What a bouncer is sent of one of its lists. */
export type StreamPart = {
  added: Pieces[]
  /** Addresses and networks that left the list. */
  removed: string[]
  origin: string
  /** Loads the list, to find the decision about exactly an address or network. */
  finder(): Promise<(value: string) => Decision | undefined>
  /** What the bouncer has once it has received all of it. */
  state: Partial<BouncerState>
}

export const EMPTY_PART: StreamPart = {
  added: [],
  removed: [],
  origin: '',
  finder: async () => () => undefined,
  state: {},
}
