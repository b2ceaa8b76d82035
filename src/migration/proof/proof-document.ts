import { createHash } from 'node:crypto'
import type { MessageSum } from './message-list.ts'

/**
 * What was read of both servers: `headers` lists all messages with Message-ID, size, date and flags;
 * `full` also reads every message whole and compares its bytes.
 */
export const PROOF_LEVELS = ['headers', 'full'] as const
export type ProofLevel = (typeof PROOF_LEVELS)[number]

/**
 * `identical`: the destination has every message of the source, unchanged. `complete`: it has every
 * message, some of them changed. `incomplete`: messages are missing or could not be read.
 */
export const VERDICTS = ['identical', 'complete', 'incomplete'] as const
export type Verdict = (typeof VERDICTS)[number]

export const PROOF_FORMAT = 'portreeve-proof/1'

/** A reason and the number of messages that it applies to. */
export type Reason = { reason: string; messages: number }

export type ProofAccount = { host: string; port: number; user: string; signIn: string }

/** The messages of one folder of the destination and of the folders that were copied to it. */
export type ProofFolder = {
  /** Null for folders that were never copied. */
  destination: string | null
  destinationUidValidity: number | null
  sources: { folder: string; uidValidity: number | null; uidNext: number | null }[]
  /** What the source holds. */
  source: MessageSum
  /** Of these, what the destination holds in this folder, as the destination returns it. */
  kept: MessageSum
  /** What the destination holds beside them. */
  additional: MessageSum
  /** Messages of the source that the destination holds in another folder. */
  elsewhere: number
  /** Messages that the source lists but does not return. They count as missing. */
  unreadable: number
  /** Messages of the source that were not found at the destination. */
  missing: number
}

/** A message of the source that was not found at the destination. */
type MissingMessage = {
  folder: string
  uid: number
  size: number | null
  reason: string
  detail: string | null
}

/** What a proof says about one mailbox. */
export type MailboxProof = {
  format: typeof PROOF_FORMAT
  kind: 'mailbox'
  madeBy: string
  migration: {
    id: string
    batch: string | null
    createdAt: string
    lastPassAt: string | null
    passes: number
  }
  source: ProofAccount
  destination: ProofAccount
  level: ProofLevel
  readFrom: string
  readUntil: string
  folders: ProofFolder[]
  /** Folders of the source that were not selected. */
  leftOut: { folder: string; messages: number | null }[]
  /** How messages of the destination differ from those of the source. */
  changes: Reason[]
  missing: Reason[]
  /** Messages that only the destination has. */
  additional: Reason[]
  /** The missing messages, up to a limit. */
  missingMessages: MissingMessage[]
  /** Notes of the migration, such as renamed folders. */
  notes: { folder: string; message: string }[]
  totals: ProofTotals
  verdict: Verdict
}

export type ProofTotals = {
  source: MessageSum
  kept: MessageSum
  additional: MessageSum
  elsewhere: number
  missing: number
}

/** A mailbox in the proof of a batch. */
export type ProvenMailbox = {
  source: string
  destination: string
  migration: string | null
  /** Why there is no proof of it; null where there is one. */
  problem: string | null
  level: ProofLevel | null
  readUntil: string | null
  verdict: Verdict
  totals: ProofTotals | null
  changes: Reason[]
  missing: Reason[]
  additional: Reason[]
  /** SHA-256 of the document of its own proof. */
  document: string | null
}

/** What a proof says about a batch. */
export type BatchProof = {
  format: typeof PROOF_FORMAT
  kind: 'batch'
  madeBy: string
  batch: { id: string; name: string; createdAt: string }
  /** When the last of its mailboxes was read; null before any was. */
  readUntil: string | null
  mailboxes: ProvenMailbox[]
  totals: ProofTotals
  verdict: Verdict
}

export type ProofDocument = MailboxProof | BatchProof

/**
 * Adds up sums. The digest of several is the SHA-256 over lines with a name, a space and its digest,
 * sorted.
 */
function addSums(named: readonly (readonly [name: string, sum: MessageSum])[]): MessageSum {
  const lines = named.map(([name, { digest }]) => `${name} ${digest}\n`).toSorted()
  return {
    messages: named.reduce((total, [, { messages }]) => total + messages, 0),
    bytes: named.reduce((total, [, { bytes }]) => total + bytes, 0),
    digest: createHash('sha256').update(lines.join('')).digest('hex'),
  }
}

/** The totals of folders or of mailboxes, by name. */
function addTotals(named: readonly (readonly [name: string, totals: ProofTotals])[]): ProofTotals {
  const sumOf = (part: 'source' | 'kept' | 'additional') =>
    addSums(named.map(([name, totals]) => [name, totals[part]] as const))
  const countOf = (part: 'elsewhere' | 'missing') =>
    named.reduce((total, [, totals]) => total + totals[part], 0)
  return {
    source: sumOf('source'),
    kept: sumOf('kept'),
    additional: sumOf('additional'),
    elsewhere: countOf('elsewhere'),
    missing: countOf('missing'),
  }
}

/** The totals of a mailbox follow from its folders. */
export function totalsOfFolders(folders: readonly ProofFolder[]): ProofTotals {
  return addTotals(folders.map((folder) => [nameOfFolder(folder), folder] as const))
}

function nameOfFolder({ destination, sources }: ProofFolder): string {
  return destination ?? `- ${sources[0]?.folder ?? ''}`
}

/** The totals of a batch follow from its mailboxes. */
export function totalsOfMailboxes(mailboxes: readonly ProvenMailbox[]): ProofTotals {
  return addTotals(
    mailboxes.flatMap(({ source, totals }) => (totals ? [[source, totals] as const] : [])),
  )
}

/** Reasons that are no fault: the migration was asked to leave such messages out. */
const ACCEPTED_REASONS = ['already_there', 'copied_in_other_folder']

export function isAccepted(reason: string): boolean {
  return ACCEPTED_REASONS.includes(reason)
}

/** A change with which a part of a message is lost. */
const LOSING_CHANGE = 'shortened'

/** The verdict of a mailbox follows from what is missing and what changed. */
export function verdictOfMailbox({
  missing,
  changes,
}: Pick<MailboxProof, 'missing' | 'changes'>): Verdict {
  if (missing.some(({ reason }) => !isAccepted(reason))) return 'incomplete'
  if (changes.some(({ reason }) => reason === LOSING_CHANGE)) return 'incomplete'
  return missing.length + changes.length === 0 ? 'identical' : 'complete'
}

/** A batch is as good as its worst mailbox. */
export function verdictOfBatch(mailboxes: readonly Pick<ProvenMailbox, 'verdict'>[]): Verdict {
  const worst = mailboxes.map(({ verdict }) => VERDICTS.indexOf(verdict))
  return VERDICTS[Math.max(...worst, mailboxes.length === 0 ? 2 : 0)] as Verdict
}
