import { formatUidSet } from '../../../net/imap/connection/command-encoding.ts'
import { afterExpunges } from '../../../net/imap/fetch/retry-after-expunges.ts'
import { fetchBodies } from '../../../net/imap/fetch/fetch-bodies.ts'
import { epochMsOf } from '../../../net/imap/append/flags-and-dates.ts'
import { createMeter, type BodyMeasure } from '../../../net/imap/quirks.ts'
import { ImapRefused, isTemporary } from '../../../net/imap/connection/refusals.ts'
import { numberOf, pairsOf, stringOf, type Value } from '../../../net/imap/connection/response.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'

/**
 * One of our copies: UIDs at the source and the destination, and the bytes and date (milliseconds)
 * that were sent.
 */
export type StoredCopy = { uid: number; to: number; bytes: number; moment: number | null }

/** What this run has copied, as far as the destination told the UIDs. */
export type StoredCopies = {
  add(arrival: StoredCopy): void
  groups(): Generator<StoredCopy[]>
  clear(): void
}

/** What the destination keeps otherwise than it was sent. */
export type Deviations = {
  /** Bytes that are kept in place of those sent, in the order found. */
  sizes: { uid: number; sent: BodyMeasure; kept: BodyMeasure }[]
  dates: { count: number; uid: number; sent: number; kept: number } | null
}

/** Copies whose sizes are asked for together. */
const COPIES_PER_FETCH = 1_000

/**
 * Copies of another size that are compared with their originals; what they show is true of the
 * others.
 */
const MAX_COMPARED = 10

/** Numbers only: there may be hundreds of thousands. */
export function createStoredCopies(): StoredCopies {
  let numbers: number[] = []
  return {
    add: ({ uid, to, bytes, moment }) => void numbers.push(uid, to, bytes, moment ?? NaN),
    clear: () => void (numbers = []),
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
 * Compares our copies with what was sent. A size that differs is believed only after the copy was
 * read: servers count differently.
 * @param source with the folder open
 * @param destination with the folder open
 * @throws ImapRefused when a server asks us to come back later, ImapLost
 */
export async function compareStoredCopies(
  arrivals: StoredCopies,
  source: Wire,
  destination: Wire,
): Promise<Deviations> {
  const found: Deviations = { sizes: [], dates: null }
  const resized: StoredCopy[] = []
  for (const some of arrivals.groups()) {
    // Dovecot tells a date before 1970 as it is once, and from its cache of 32 bits from then on,
    // to everybody.
    if (some.some(({ moment }) => moment !== null && moment < 0)) await readKept(destination, some)
    const kept = await readKept(destination, some)
    for (const arrival of some) {
      const { bytes, moment } = kept.get(arrival.to) ?? {}
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
  // Only now: when a connection breaks, the comparison is made again.
  arrivals.clear()
  return found
}

/** Dates of the past, from 1970 on, no server has been seen to change. */
function isOdd(moment: number | null): boolean {
  return moment !== null && (moment < 0 || moment > Date.now())
}

type Kept = { bytes?: number; moment?: number }

async function readKept(wire: Wire, some: readonly StoredCopy[]): Promise<Map<number, Kept>> {
  const kept = new Map<number, Kept>()
  // Most servers keep sizes in an index, and have to open each message for its date: only odd dates
  // are worth that.
  const items = some.some(({ moment }) => isOdd(moment)) ? 'INTERNALDATE ' : ''
  const uids = some.map(({ to }) => to).toSorted((a, b) => a - b)
  const data = (values: Value[]) => {
    const pairs = values[1] === 'FETCH' ? pairsOf(values[2]) : null
    const uid = numberOf(pairs?.get('UID'))
    if (!pairs || uid === null) return false
    const moment = epochMsOf(stringOf(pairs.get('INTERNALDATE')) ?? '')
    kept.set(uid, {
      bytes: numberOf(pairs.get('RFC822.SIZE')) ?? undefined,
      moment: moment ?? undefined,
    })
    return true
  }
  try {
    await afterExpunges(wire, async () =>
      wire.run([`UID FETCH ${formatUidSet(uids)} (UID ${items}RFC822.SIZE)`], { data }),
    )
  } catch (error) {
    // A server that does not let us look has stored them all the same.
    if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
  }
  return kept
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

/** The bytes of a body, however its lines end. */
export function bytesBesideLineEnds({ bytes, crlf, bareLf, bareCr }: BodyMeasure): number {
  return bytes - 2 * crlf - bareLf - bareCr
}
