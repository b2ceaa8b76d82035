import { HOUR_MS, MINUTE_MS } from '../time.ts'

/** What a migration may hold and how long it waits. Sizes in bytes, times in milliseconds. */
export const LIMITS = {
  /**
   * Pairs of connections of one migration; Dovecot allows ten connections of a user from one
   * address.
   */
  connections: 4,
  /** A second pair of connections is not worth its sign-in below so many messages. */
  messagesPerConnection: 250,
  /** Batches of one pair under way: one is fetched while another is stored. */
  batchesAhead: 3,
  /**
   * A batch is one transaction at the destination: larger ones cost it fewer commits, and us more
   * memory.
   */
  batch: { messages: 250, bytes: 2 * 1024 * 1024 },
  /** A batch that took longer is halved, a shorter one doubled. */
  batchTime: { short: 700, long: 4_000 },
  /** Bodies in memory, over all migrations of this process. */
  bodies: 12 * 1024 * 1024,
  /** What a streamed body takes of that. */
  streamedBody: 2 * 1024 * 1024,
  /** What a body of unannounced size is taken for. */
  unknownBody: 64 * 1024,
  /** Messages whose flags and dates are read ahead. */
  segment: 500,
  /**
   * After as many broken connections a message is sent alone, after as many more it is given up.
   */
  breaks: { alone: 2, most: 4 },
  /** A message that is suspected shares its batch with few. */
  suspiciousBatch: 10,
  /** How often a message is put off by a server that does not say until when. */
  delays: 10,
  /** Attempts to connect to a server that never answered yet. */
  firstAttempts: 3,
  /** Rounds over one folder in which nothing more was dealt with. */
  idleRounds: 10,
  /** How often something is asked for again whose answer was no IMAP, or more than fits. */
  nonsense: 3,
  /** How often one folder is opened anew because it changed under our hands. */
  reopens: 3,
  /** Remarks that are kept for the report. */
  notes: 1_000,
  /** Of them, those that are shown with the progress. */
  notesShown: 100,
  /** What is on its way when a migration is stopped may end within this time. */
  stopGrace: 5_000,
  /** Between two reports of progress. */
  progress: 400,
} as const

/**
 * How long a migration may hold one of the few slots of the installation. Times in milliseconds.
 */
export type SlotLimits = {
  /** Without a message, a folder or a byte of a message completed: then others get the slot. */
  standstill: number
  /** Before a migration that stood still is tried again: at first; doubled each time. */
  pause: number
  /** How often in a row it may stand still before it has failed. */
  standstills: number
  /** A dry run, altogether. */
  dryRun: number
}

export const SLOT_LIMITS: SlotLimits = {
  // 25 MB, the largest mail that most servers take, at 30 kB/s.
  standstill: 15 * MINUTE_MS,
  pause: 5 * MINUTE_MS,
  standstills: 6,
  dryRun: 10 * MINUTE_MS,
}

export type WaitTimes = {
  /** For how long a server may be away before the migration gives up. */
  away: number
  /** Between two attempts to connect: at first, and at most. */
  reconnect: { first: number; most: number }
  /**
   * For how long a destination must have taken in nothing more before we believe that what it has
   * not is lost.
   */
  settle: number
  /** When a server asks us to slow down without saying for how long: at first, and at most. */
  slowDown: { first: number; most: number }
  /** The longest wait we grant a server that names its own. */
  asked: number
}

export const WAIT_TIMES: WaitTimes = {
  away: 10 * MINUTE_MS,
  reconnect: { first: 500, most: 30_000 },
  settle: 3_000,
  slowDown: { first: 5_000, most: 120_000 },
  asked: HOUR_MS,
}
