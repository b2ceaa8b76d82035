import { formatUidSet } from '../../../net/imap/connection/command-encoding.ts'
import { afterExpunges } from '../../../net/imap/fetch/retry-after-expunges.ts'
import { fetchBodies } from '../../../net/imap/fetch/fetch-bodies.ts'
import { epochMsOf } from '../../../net/imap/append/flags-and-dates.ts'
import { createMeter, type BodyMeasure } from '../../../net/imap/quirks.ts'
import { ImapRefused, isThrottling } from '../../../net/imap/connection/refusals.ts'
import { numberOf, stringOf, type Value } from '../../../net/imap/connection/response.ts'
import { addItems, type FetchedItems } from '../../../net/imap/fetch/fetched-items.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'

/**
 * A copy: its UIDs at the source and the destination, and the bytes and date (milliseconds since
 * 1970) that were sent.
 */
type StoredCopy = { uid: number; to: number; bytes: number; moment: number | null }

/** The copies of this run whose UIDs the destination reported. */
export type StoredCopies = {
  add(arrival: StoredCopy): void
  readonly count: number
  /** Whether a server may have changed one of their dates. */
  readonly hasOddDates: boolean
  groups(): Generator<StoredCopy[]>
  clear(): void
}

/** Differences between sent and stored messages. */
export type Deviations = {
  /** Sizes that differ, in the order found. */
  sizes: { uid: number; sent: BodyMeasure; kept: BodyMeasure }[]
  dates: { count: number; uid: number; sent: number; kept: number } | null
  /** Copies that the destination does not return: only a listing shows whether it has them. */
  missing: StoredCopy[]
}

/** Copies per FETCH of sizes. */
const COPIES_PER_FETCH = 1_000

/**
 * Copies of another size whose bodies are compared with the originals. Their result stands for the
 * others.
 */
const MAX_COMPARED = 10

/**
 * Creates the list. It stores numbers only, because there can be hundreds of thousands of copies.
 */
export function createStoredCopies(): StoredCopies {
  let numbers: number[] = []
  let hasOddDates = false
  return {
    get count() {
      return numbers.length / 4
    },
    get hasOddDates() {
      return hasOddDates
    },
    add({ uid, to, bytes, moment }) {
      numbers.push(uid, to, bytes, moment ?? NaN)
      hasOddDates ||= isOdd(moment)
    },
    clear() {
      numbers = []
      hasOddDates = false
    },
    *groups() {
      for (let at = 0; at < numbers.length; at += 4 * COPIES_PER_FETCH) {
        const some = numbers.slice(at, at + 4 * COPIES_PER_FETCH)
        yield Array.from({ length: some.length / 4 }, (_, index) => {
          const [uid = 0, to = 0, bytes = 0, moment = NaN] = some.slice(index * 4, index * 4 + 4)
          return { uid, to, bytes, moment: Number.isNaN(moment) ? null : moment }
        })
      }
    },
  }
}

/**
 * Compares stored copies with the sent messages. A different size counts only after the body was
 * read, because servers measure differently.
 * @param source with the folder open
 * @param destination with the folder open
 * @throws ImapRefused when a server asks for fewer requests, ImapLost
 */
export async function compareStoredCopies(
  arrivals: StoredCopies,
  source: Wire,
  destination: Wire,
): Promise<Deviations> {
  const found: Deviations = { sizes: [], dates: null, missing: [] }
  const resized: StoredCopy[] = []
  for (const some of arrivals.groups()) {
    // Dovecot returns a date before 1970 correctly once, and a wrong one from its 32-bit cache from
    // then on. The second FETCH shows what every later client gets.
    if (some.some(({ moment }) => moment !== null && moment < 0)) await readKept(destination, some)
    const kept = await readKept(destination, some)
    found.missing.push(...(kept ? await findMissing(destination, some, kept) : some))
    for (const arrival of some) {
      const { bytes, moment } = kept?.get(arrival.to) ?? {}
      if (bytes !== undefined && bytes !== arrival.bytes && resized.length < MAX_COMPARED)
        resized.push(arrival)
      if (
        moment === undefined ||
        arrival.moment === null ||
        Math.abs(moment - arrival.moment) < 1_000
      )
        continue
      found.dates ??= { count: 0, uid: arrival.uid, sent: arrival.moment, kept: moment }
      found.dates.count += 1
    }
  }
  for (const { uid, to } of resized) {
    const [sent, kept] = [await measureOne(source, uid), await measureOne(destination, to)]
    if (sent && kept && sent.digest !== kept.digest) found.sizes.push({ uid, sent, kept })
  }
  // Cleared last, because the comparison is repeated when a connection breaks.
  arrivals.clear()
  return found
}

/**
 * Whether a server may change this date. No server is known to change dates from 1970 until now.
 */
function isOdd(moment: number | null): boolean {
  return moment !== null && (moment < 0 || moment > Date.now())
}

type Kept = { bytes: number | undefined; moment: number | undefined }

/** Copies that the server does not return, even asked again for each. */
async function findMissing(
  wire: Wire,
  some: readonly StoredCopy[],
  kept: ReadonlyMap<number, Kept>,
): Promise<StoredCopy[]> {
  const missing: StoredCopy[] = []
  for (const copy of some.filter(({ to }) => !kept.has(to)))
    if ((await readKept(wire, [copy]))?.has(copy.to) !== true) missing.push(copy)
  return missing
}

/** @returns null where the server rejects it */
async function readKept(
  wire: Wire,
  some: readonly StoredCopy[],
): Promise<Map<number, Kept> | null> {
  const kept = new Map<number, FetchedItems>()
  // Most servers have sizes in an index, but open each message for its date. Only odd dates are
  // worth that.
  const items = some.some(({ moment }) => isOdd(moment)) ? 'INTERNALDATE ' : ''
  const uids = some.map(({ to }) => to).toSorted((a, b) => a - b)
  const data = (values: Value[]) => addItems(values, kept) !== null
  try {
    await afterExpunges(wire, async () =>
      wire.run([`UID FETCH ${formatUidSet(uids)} (UID ${items}RFC822.SIZE)`], { data }),
    )
    return new Map([...kept].map(([uid, found]) => [uid, keptOf(found)]))
  } catch (error) {
    // A server that rejects the comparison may have stored the messages nevertheless.
    if (!(error instanceof ImapRefused) || isThrottling(error.refusal)) throw error
    return null
  }
}

function keptOf(items: FetchedItems): Kept {
  return {
    bytes: numberOf(items.get('RFC822.SIZE')) ?? undefined,
    moment: epochMsOf(stringOf(items.get('INTERNALDATE')) ?? '') ?? undefined,
  }
}

async function measureOne(wire: Wire, uid: number): Promise<BodyMeasure | null> {
  for await (const row of fetchBodies(wire, [{ uid, size: null }])) {
    if (row.state !== 'here') continue
    const meter = createMeter()
    for await (const chunk of Buffer.isBuffer(row.body) ? [row.body] : row.body) meter.write(chunk)
    return meter.end()
  }
  return null
}

/** The bytes of a body without its line endings. */
export function bytesBesideLineEnds({ bytes, crlf, bareLf, bareCr }: BodyMeasure): number {
  return bytes - 2 * crlf - bareLf - bareCr
}
