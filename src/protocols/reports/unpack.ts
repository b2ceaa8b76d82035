import { Fault } from '../../errors.ts'
import { decodeHead } from './charset.ts'
import { REPORT_LIMITS } from './report-limits.ts'
import { openMail } from './report-mail.ts'
import type { ReportMail } from './report-mail-parts.ts'
import { detectType, type Container } from './report-type.ts'
import { gunzip, zipEntries } from './unpack-archive.ts'

type ReportKind = 'aggregate' | 'tls' | 'failure'

/** A report found in a delivery. */
export type FoundReport = {
  /** File name, or subject of a mail; for people to recognise it by. */
  name: string
  kind: ReportKind
  /**
   * Its text, unpacked as it is read; give it to `parseAggregateReport` or `parseTlsReport`. May
   * throw a Fault.
   */
  open: () => AsyncIterable<Uint8Array>
  /** The innermost mail that carried it; null for a bare file. */
  mail: ReportMail | null
}

/** An item that is no report or could not be read, with the reason as a sentence. */
export type NoReport = { name: string; reason: string; mail: ReportMail | null }

export type Unpacked = FoundReport | NoReport

/** See REPORT_LIMITS, whose names these are. */
export type UnpackLimits = Record<'inflated' | 'whole' | 'entries' | 'files' | 'depth', number>

/** The cost of a delivery so far: bytes unpacked from archives, and files opened. */
export type UnpackCost = { inflated: number; files: number }

export function isReport(item: Unpacked): item is FoundReport {
  return 'kind' in item
}

/**
 * Finds the reports in a file or mail by its content, whatever its name: XML, JSON, gzip, zip, a
 * mail, and any of these within another. Yields at least one item, and one for everything that it
 * could not read; never throws for those. Beyond a limit, the rest is not read, and one item
 * reports that.
 * @param name the name of the whole, when nothing inside has a better name
 * @param cost continues to count, also over the files of one delivery
 */
export async function* unpack(
  bytes: Uint8Array,
  {
    name = 'report',
    limits = REPORT_LIMITS,
    cost = { inflated: 0, files: 0 },
  }: { name?: string; limits?: Partial<UnpackLimits>; cost?: UnpackCost } = {},
): AsyncGenerator<Unpacked> {
  const spent = { limits: { ...REPORT_LIMITS, ...limits }, cost, isOver: false }
  yield* walk({ name, mail: null, open: () => once(bytes) }, spent, 0)
}

/** Content to inspect. */
type Source = Pick<FoundReport, 'name' | 'mail' | 'open'>
/** `isOver`: there are too many files, and an item has said so. */
type Spent = { limits: UnpackLimits; cost: UnpackCost; isOver: boolean }

async function* walk(packed: Source, spent: Spent, depth: number): AsyncGenerator<Unpacked> {
  const { name, mail } = packed
  try {
    const { start, isWhole } = await readStart(packed.open())
    const source = isWhole ? { name, mail, open: () => once(start) } : packed
    const found = detectType(start.subarray(0, REPORT_LIMITS.head))
    if (found.is === 'unknown') yield { name, mail, reason: found.reason }
    else if (found.is === 'aggregate' || found.is === 'tls') yield { ...source, kind: found.is }
    else if (depth === spent.limits.depth)
      yield { name, mail, reason: 'The file has too many levels of compression.' }
    else yield* walkInto(found.is, source, spent, depth)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    yield { name, mail, reason: error.message }
  }
}

async function* walkInto(
  is: Container,
  source: Source,
  spent: Spent,
  depth: number,
): AsyncGenerator<Unpacked> {
  const bytes = await collect(source.open(), spent.limits.whole)
  let entries = 0
  for await (const inner of OPENERS[is](bytes, source, spent)) {
    entries++
    spent.cost.files++
    const most = findExceeded(entries, spent)
    if (most !== null) {
      const reason = `The file contains more than ${most.toLocaleString('en')} files. The others were not read.`
      // Outer containers end for the same reason, which is reported once.
      if (!spent.isOver) yield { name: source.name, mail: source.mail, reason }
      spent.isOver ||= most === spent.limits.files
      break
    }
    if ('kind' in inner || 'reason' in inner) yield inner
    else yield* walk(inner, spent, depth + 1)
  }
}

/** The limit on files that is exceeded; null for none. */
function findExceeded(entries: number, { limits, cost }: Spent): number | null {
  if (cost.files > limits.files) return limits.files
  return entries > limits.entries ? limits.entries : null
}

type Opener = (bytes: Uint8Array, source: Source, spent: Spent) => AsyncIterable<Source | Unpacked>

const OPENERS: Record<Container, Opener> = {
  gzip: async function* (bytes, { name, mail }, spent) {
    yield { name, mail, open: () => metered(gunzip(bytes), spent) }
  },
  zip: async function* (bytes, { name, mail }, spent) {
    let isEmpty = true
    for await (const entry of zipEntries(bytes)) {
      isEmpty = false
      yield { name: entry.name || name, mail, open: () => metered(entry.open(), spent) }
    }
    if (isEmpty) yield { name, mail, reason: 'The zip archive is empty.' }
  },
  base64: async function* (bytes, { name, mail }) {
    const decoded = Buffer.from(decodeHead(bytes), 'base64')
    yield { name, mail, open: () => once(decoded) }
  },
  mail: openParts,
}

async function* openParts(bytes: Uint8Array, source: Source): AsyncGenerator<Source | Unpacked> {
  const { mail, isFailureReport, parts, reportText } = await openMail(bytes)
  const name = mail.subject ?? source.name
  if (isFailureReport) {
    yield { name, mail, kind: 'failure', open: () => once(bytes) }
    return
  }
  for (const part of parts) yield { name: part.name ?? name, mail, open: () => once(part.bytes) }
  if (reportText) yield { name, mail, open: () => once(Buffer.from(reportText)) }
  else if (parts.length === 0)
    yield { name, mail, reason: 'The message has no attachment and no report in its text.' }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/**
 * Counts the bytes that are unpacked from archives, because their declared sizes are unreliable.
 */
async function* metered(
  chunks: AsyncIterable<Uint8Array>,
  spent: Spent,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    spent.cost.inflated += Math.max(chunk.length, REPORT_LIMITS.chunk)
    if (spent.cost.inflated > spent.limits.inflated) {
      throw new Fault(
        'too_large',
        `The uncompressed file is larger than ${inWords(spent.limits.inflated)}.`,
      )
    }
    yield chunk
  }
}

/** The start of a file; all of it, if it is small, so that it need not be unpacked again. */
async function readStart(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ start: Uint8Array; isWhole: boolean }> {
  const read: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    read.push(chunk)
    length += chunk.length
    if (length > REPORT_LIMITS.small)
      return { start: joined(read).subarray(0, REPORT_LIMITS.head), isWhole: false }
  }
  return { start: joined(read), isWhole: true }
}

async function collect(chunks: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const read: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    read.push(chunk)
    length += chunk.length
    if (length > limit) throw new Fault('too_large', `The file is larger than ${inWords(limit)}.`)
  }
  return joined(read)
}

function joined(chunks: Uint8Array[]): Uint8Array {
  const [only] = chunks
  return only && chunks.length === 1 ? only : Buffer.concat(chunks)
}

function inWords(bytes: number): string {
  return bytes < 2 ** 20 ? `${bytes} bytes` : `${Math.round(bytes / 2 ** 20)} MB`
}
