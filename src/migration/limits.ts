import { HOUR_MS, MINUTE_MS } from '../time.ts'

/** Limits of the migration engine. */
export const ENGINE_LIMITS = {
  /**
   * Connection pairs of one migration. Dovecot allows ten connections of a user from one address.
   */
  maxConnections: 4,
  /** A migration opens one more pair for each of these, because a sign-in takes time too. */
  messagesPerConnection: 250,
  /** The same for folders: each costs the servers some commands. */
  foldersPerConnection: 100,
  /** Folders of one pair at a time: while one waits for a response, the others are copied. */
  foldersInProgress: 32,
  /** Batches of one pair at a time: one is fetched while another is stored. */
  batchesInProgress: 3,
  /**
   * Maximum size of a batch. A batch is one transaction at the destination: larger ones need fewer
   * commits, but more of our memory.
   */
  batch: { messages: 250, bytes: 4 * 1024 * 1024 },
  /** Batches that take longer are halved, those that take less are doubled. */
  batchTime: { shortMs: 700, longMs: 4_000 },
  /** Memory for message bodies, shared by all migrations of this process. */
  bodiesBytes: 24 * 1024 * 1024,
  /** Memory reserved for a body that is streamed. */
  streamedBodyBytes: 2 * 1024 * 1024,
  /** Assumed size of a body whose size the server did not report. */
  unknownBodyBytes: 64 * 1024,
  /** Messages whose flags and dates are fetched together. */
  segmentMessages: 500,
  /**
   * Connections that may break at the same message: after `alone` it is sent in a batch of its
   * own, after `most` it is reported as not copied.
   */
  maxBreaks: { alone: 2, most: 4 },
  /** Maximum messages of a batch that contains a message suspected of breaking connections. */
  suspiciousBatchMessages: 10,
  /** How often a message is sent again after the server asked for fewer requests without a delay. */
  maxDelays: 10,
  /** How often a server may be busy at the same message or folder. */
  maxBusy: 5,
  /**
   * Connections that may break at one folder before any of its messages is read or copied, or at
   * other folders while it is worked on.
   */
  maxLosses: 100,
  /** Attempts to connect to a server that has not responded before. */
  maxFirstAttempts: 3,
  /** Consecutive passes over one folder without progress. */
  maxIdleRounds: 10,
  /** Retries of a command whose response was not valid IMAP or exceeded a limit. */
  maxUnreadableResponses: 3,
  /** How often the source is listed again where its listing has fewer messages than it claims. */
  maxListings: 3,
  /** How often one folder is reopened because it changed during the migration. */
  maxReopens: 3,
  /** Notes stored with the report. */
  maxNotes: 1_000,
  /** Notes shown with the progress. */
  maxNotesShown: 100,
  /** Time for running commands to end when a migration is stopped. */
  stopGraceMs: 5_000,
  /** Interval of progress reports. */
  progressIntervalMs: 400,
} as const

/** How long a migration may hold one of the installation’s slots. */
export type SlotLimits = {
  /** Time without a completed message or folder or a received byte; then others get the slot. */
  standstillMs: number
  /** Delay before a stalled migration is retried; doubled each time. */
  pauseMs: number
  /** Consecutive stalls after which a migration has failed. */
  maxStandstills: number
  /** Maximum duration of a dry run. */
  dryRunMs: number
}

export const SLOT_LIMITS: SlotLimits = {
  // Enough for 25 MB, the largest message that most servers accept, at 30 kB/s.
  standstillMs: 15 * MINUTE_MS,
  pauseMs: 5 * MINUTE_MS,
  maxStandstills: 6,
  dryRunMs: 10 * MINUTE_MS,
}

export type WaitTimes = {
  /** How long a server may be unreachable before the migration fails. */
  unreachableMs: number
  /** Delay between two attempts to connect: the first, and the longest. */
  reconnectMs: { first: number; most: number }
  /**
   * How long a destination must have stored no further message before messages that it does not
   * list count as lost.
   */
  quietMs: number
  /** Delay after a rate limit without a duration: the first, and the longest. */
  slowDownMs: { first: number; most: number }
  /** Longest delay that a server can request. */
  maxRequestedDelayMs: number
}

export const WAIT_TIMES: WaitTimes = {
  unreachableMs: 10 * MINUTE_MS,
  reconnectMs: { first: 500, most: 30_000 },
  quietMs: 3_000,
  slowDownMs: { first: 5_000, most: 120_000 },
  maxRequestedDelayMs: HOUR_MS,
}
