import type { Kysely } from 'kysely'
import { isMbox, splitMbox } from '../../protocols/mail/mbox.ts'
import type { UnpackCost } from '../../protocols/reports/unpack.ts'
import type { DB } from '../../store/tables.ts'
import { newId } from '../id.ts'
import { BATCH_RECORDS, BATCH_REPORTS, DELIVERY_BYTES, MAX_MBOX_MAILS, UPLOAD_LIMITS } from '../limits.ts'
import { plain, readReports, type Read } from './read.ts'
import { storeBatch } from './batch.ts'
import type { NewDelivery, Via } from './store.ts'

/** Who gave it to us, and how. */
export type Origin = {
  via: Via
  /** Whose domains it may be about; null: anybody's. */
  accountId: string | null
  /** The domain to whose address it was sent. */
  domainId?: string | undefined
  peer?: string | undefined
  sender?: string | undefined
}

/** `refusal`: why it is not read at all. */
export type GivenFile = { name: string; bytes: Uint8Array; refusal?: string }

/** Reports by what became of them. A failure report is only counted. */
export type Outcome = {
  stored: number
  duplicates: number
  failureReports: number
  rejected: { name: string; reason: string }[]
  /** How many of the rejected ones are about a domain that is not here; the others could not be read. */
  foreign: number
  /** Under which what was stored can be found; in the order of the files, without those of which nothing was kept. */
  deliveries: Set<string>
  /** Records of the reports, whatever became of them, and bytes that came out of archives. */
  records: number
  unpackedBytes: number
}

/** Hears how many reports came by one way and what became of them: `stored`, `duplicate`, `failure`, `unread`, `foreign`. */
export type OnReports = (via: Via, outcome: string, reports: number) => void

/** Tells an outcome in the words of `OnReports`. */
export function tellOutcome(via: Via, outcome: Outcome, onReports: OnReports | undefined): void {
  const { stored, duplicates, failureReports, rejected, foreign } = outcome
  const unread = rejected.length - foreign
  const words = { stored, duplicate: duplicates, failure: failureReports, unread, foreign }
  for (const [word, reports] of Object.entries(words)) if (reports > 0) onReports?.(via, word, reports)
}

/** One report, or what is none, with the delivery that brought it. */
export type Entry = { read: Read; delivery: NewDelivery }

/**
 * Takes files and mails from any door: when it returns, all that is in its answer is stored for good. Reading goes on
 * while the batch before is written.
 * @param onStored called after each batch
 * @throws what the database throws; what was stored by then is found again as a duplicate
 */
export async function ingest(
  db: Kysely<DB>,
  origin: Origin,
  files: AsyncIterable<GivenFile> | Iterable<GivenFile>,
  onStored: (soFar: Outcome) => void = () => {},
): Promise<Outcome> {
  const outcome: Outcome = { stored: 0, duplicates: 0, failureReports: 0, rejected: [], foreign: 0, ...NO_COST() }
  const cost: UnpackCost = { inflated: 0, files: 0 }
  const limits = origin.via === 'upload' ? UPLOAD_LIMITS : {}
  let batch: Entry[] = []
  let records = 0
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    const entries = batch
    batch = []
    records = 0
    await writing
    writing = storeBatch(db, origin, entries, outcome).then(() => onStored(outcome))
    // It is awaited before the next, and at the end; until then nobody else may hear of it.
    writing.catch(() => {})
  }

  for await (const file of unfolded(files, origin)) {
    // An operator's files are bounded one by one, what others send as a whole.
    if (origin.via === 'import') cost.files = cost.inflated = 0
    const delivery = deliveryOf(file, origin)
    let holdsMail = false
    // In a mailbox lies everybody's mail: only what holds a report is kept.
    if (origin.via === 'mailbox') delivery.content = null
    for await (const read of readFile(file, delivery.name, { cost, limits })) {
      if (read.kind === 'failure') holdsMail = true
      if (read.kind !== 'unread') delivery.content = file.bytes
      // A failure report holds somebody's mail, wherever it lies: what brought it is not kept.
      if (holdsMail) delivery.content = null
      batch.push({ read, delivery })
      const count = read.kind === 'aggregate' ? read.report.recordCount : 0
      records += count
      outcome.records += count
      if (batch.length >= BATCH_REPORTS || records >= BATCH_RECORDS) await write()
    }
  }
  if (batch.length > 0) await write()
  await writing
  outcome.unpackedBytes = cost.inflated
  return outcome
}

const NO_COST = () => ({ deliveries: new Set<string>(), records: 0, unpackedBytes: 0 })

/**
 * An mbox is as many mails, where a person gives it to us. What comes over SMTP or out of a mailbox is one mail, also when
 * it begins with an mbox's line.
 */
async function* unfolded(
  files: AsyncIterable<GivenFile> | Iterable<GivenFile>,
  { via }: Origin,
): AsyncGenerator<GivenFile> {
  const maySplit = via === 'upload' || via === 'import'
  for await (const file of files) {
    if (!maySplit || !isMbox(file.bytes)) yield file
    else yield* mailsOf(file, via === 'import' ? Infinity : MAX_MBOX_MAILS)
  }
}

async function* mailsOf({ name, bytes }: GivenFile, most: number): AsyncGenerator<GivenFile> {
  let mails = 0
  for await (const mail of splitMbox([bytes], DELIVERY_BYTES)) {
    mails++
    if (mails > most) {
      const refusal = `The mbox holds more than ${most.toLocaleString('en')} mails; the others were not read. Split it, or have it read with “portreeve import-reports”.`
      yield { name, bytes: new Uint8Array(), refusal }
      return
    }
    yield { name, bytes: mail }
  }
}

async function* readFile(
  { bytes, refusal }: GivenFile,
  name: string,
  bounds: Parameters<typeof readReports>[2],
): AsyncGenerator<Read> {
  if (refusal === undefined) yield* readReports(bytes, name, bounds)
  else yield { kind: 'unread', name, reason: refusal }
}

function deliveryOf({ name, bytes }: GivenFile, { via, accountId, peer, sender }: Origin): NewDelivery {
  return {
    id: newId(),
    accountId,
    via,
    name: plain(name).slice(0, 255),
    peer: peer ?? null,
    sender: sender === undefined ? null : plain(sender).slice(0, 320),
    content: bytes,
    holdsReport: false,
    samples: 0,
    receivedAt: new Date(),
  }
}
