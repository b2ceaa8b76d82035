/** Limits of proofs. */
export const PROOF_LIMITS = {
  /** Proofs that are made at once over all instances. */
  concurrency: 4,
  /** Seconds for one proof. */
  deadlineSeconds: 12 * 60 * 60,
  /** Missing messages that a proof names. Further ones are counted. */
  maxNamedMessages: 1_000,
  /** Unpaired messages of one side that are compared over folders. */
  maxUnpaired: 100_000,
  /** Notes of the migration that a proof repeats. */
  maxNotes: 100,
  /** How often a folder is read again after a server assigned new UIDs. */
  maxReopens: 3,
  /** Milliseconds between two reports of the progress. */
  progressMs: 2_000,
  /** Bytes of a file that `verify-proof` reads. A proof of 5,000 mailboxes has some 6 MB. */
  maxFileBytes: 64 * 1024 * 1024,
} as const
