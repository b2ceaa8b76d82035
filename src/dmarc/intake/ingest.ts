import type { Kysely } from 'kysely'
import { isMbox, splitMbox } from '../../protocols/mail/mbox.ts'
import type { UnpackCost } from '../../protocols/reports/unpack.ts'
import type { DB } from '../../store/tables.ts'
import { newUuid } from '../../store/uuid.ts'
import {
  BATCH_RECORDS,
  BATCH_REPORTS,
  MAX_DELIVERY_BYTES,
  MAX_MBOX_MAILS,
  UPLOAD_LIMITS,
} from '../limits.ts'
import { toStorableText, readReports, type ReadBounds, type ReadResult } from './read-reports.ts'
import {
  storeBatch,
  type BatchEntry,
  type IntakeOrigin,
  type IntakeOutcome,
} from './store-batch.ts'
import type { NewDelivery, Via } from './report-intake.sql.ts'

/** `refusal` is the reason why the file is not read at all. */
export type GivenFile = { name: string; bytes: Uint8Array; refusal?: string }

/**
 * Receives the number of reports per channel and result: `stored`, `duplicate`, `failure`,
 * `unread`, `foreign`.
 */
export type OnReports = (via: Via, outcome: string, reports: number) => void

/** Passes an outcome to `OnReports`, one call per result. */
export function notifyOutcome(
  via: Via,
  outcome: IntakeOutcome,
  onReports: OnReports | undefined,
): void {
  const { stored, duplicates, failureReports, rejected, foreign } = outcome
  const unread = rejected.length - foreign
  const counts = { stored, duplicate: duplicates, failure: failureReports, unread, foreign }
  for (const [result, reports] of Object.entries(counts))
    if (reports > 0) onReports?.(via, result, reports)
}

/**
 * Reads and stores the reports of files and emails from any channel. The outcome is committed when
 * it returns. Reading continues while the previous batch is written.
 * @param onStored called after each batch
 * @throws database errors; on a retry, reports that were stored already count as duplicates
 */
export async function ingest(
  db: Kysely<DB>,
  origin: IntakeOrigin,
  files: AsyncIterable<GivenFile> | Iterable<GivenFile>,
  onStored: (soFar: IntakeOutcome) => void = () => {},
): Promise<IntakeOutcome> {
  const outcome: IntakeOutcome = {
    stored: 0,
    duplicates: 0,
    failureReports: 0,
    rejected: [],
    foreign: 0,
    domains: new Map(),
    ...NO_COST(),
  }
  const cost: UnpackCost = { inflated: 0, files: 0 }
  const limits = origin.via === 'upload' ? UPLOAD_LIMITS : {}
  let batch: BatchEntry[] = []
  let records = 0
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    const entries = batch
    batch = []
    records = 0
    await writing
    writing = storeBatch(db, origin, entries, outcome).then(() => onStored(outcome))
    // It is awaited before the next batch and at the end. Until then, a rejection must not count as
    // unhandled.
    writing.catch(() => {})
  }

  for await (const file of unfolded(files, origin)) {
    // The limits apply to each file of an operator's import, but to an upload or email as a whole.
    if (origin.via === 'import') cost.files = cost.inflated = 0
    const delivery = deliveryOf(file, origin)
    let holdsMail = false
    // A mailbox also has personal mail: only messages with a report are stored.
    if (origin.via === 'mailbox') delivery.content = null
    for await (const read of readFile(file, delivery.name, {
      cost,
      limits,
      domain: origin.domain,
    })) {
      if (read.kind === 'failure') holdsMail = true
      if (read.kind !== 'unread') delivery.content = file.bytes
      // A failure report contains personal mail: the file that contains it is not stored.
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
 * Splits uploaded and imported mbox files into emails. A message from SMTP or a mailbox stays one
 * email, even if it begins with an mbox `From ` line.
 */
async function* unfolded(
  files: AsyncIterable<GivenFile> | Iterable<GivenFile>,
  { via }: IntakeOrigin,
): AsyncGenerator<GivenFile> {
  const maySplit = via === 'upload' || via === 'import'
  for await (const file of files) {
    if (!maySplit || !isMbox(file.bytes)) yield file
    else yield* mailsOf(file, via === 'import' ? Infinity : MAX_MBOX_MAILS)
  }
}

async function* mailsOf({ name, bytes }: GivenFile, most: number): AsyncGenerator<GivenFile> {
  let mails = 0
  for await (const mail of splitMbox([bytes], MAX_DELIVERY_BYTES)) {
    mails++
    if (mails > most) {
      const refusal = `The mbox contains more than ${most.toLocaleString('en')} emails. The remaining ones were not read. Split the file, or import it with “portreeve import-reports”.`
      yield { name, bytes: new Uint8Array(), refusal }
      return
    }
    yield { name, bytes: mail }
  }
}

async function* readFile(
  { bytes, refusal }: GivenFile,
  name: string,
  bounds: ReadBounds,
): AsyncGenerator<ReadResult> {
  if (refusal === undefined) yield* readReports(bytes, name, bounds)
  else yield { kind: 'unread', name, reason: refusal }
}

function deliveryOf(
  { name, bytes }: GivenFile,
  { via, workspaceId, peer, sender }: IntakeOrigin,
): NewDelivery {
  return {
    id: newUuid(),
    workspaceId,
    via,
    name: toStorableText(name).slice(0, 255),
    peer: peer ?? null,
    sender: sender === undefined ? null : toStorableText(sender).slice(0, 320),
    content: bytes,
    holdsReport: false,
    samples: 0,
    receivedAt: new Date(),
  }
}
