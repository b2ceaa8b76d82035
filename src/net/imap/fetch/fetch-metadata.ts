import { createBodyChannel } from './body-channel.ts'
import { IMAP_LIMITS } from '../limits.ts'
import { ImapRefused, isThrottling } from '../connection/refusals.ts'
import { formatUidSet } from '../connection/command-encoding.ts'
import { searchUids } from '../folders/mailbox.ts'
import { numberOf, stringOf, stringsOf, type Value } from '../connection/response.ts'
import { addItems, type FetchedItems } from './fetched-items.ts'
import { afterExpunges } from './retry-after-expunges.ts'
import type { Wire } from '../connection/wire.ts'
import { objectIdAttribute, objectIdOf } from './object-id.ts'

/** The metadata of one message, from the scan of a mailbox. */
export type Metadata = {
  uid: number
  /** The flags in the server’s spelling, including `\Recent`: not fit to be sent. */
  flags: string[]
  /** The date as the server wrote it; null if it gave none. */
  internalDate: string | null
  /** RFC822.SIZE, which some servers only estimate. Null if there is none. */
  size: number | null
  /** The values of its Message-ID fields, unfolded, with one character per byte. */
  messageIds: string[]
  /**
   * The server’s identifier of the message, which it keeps when it is moved: EMAILID (RFC 8474) or
   * Gmail’s X-GM-MSGID. Null where there is none.
   */
  objectId: string | null
  /** The server did not describe this message. */
  isUnknown?: boolean
  /** The server described it without its flags, even when asked for them alone. */
  hasNoFlags?: boolean
}

function itemsFor(wire: Wire): string {
  const id = objectIdAttribute(wire)
  return `(UID FLAGS INTERNALDATE RFC822.SIZE${id ? ` ${id}` : ''} BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])`
}

const FIRST_SPAN_UIDS = 500
const ROWS_PER_RANGE = { few: 250, many: 2_000 }

/**
 * Scans the open mailbox in ranges of UIDs, two at once, and yields rows in the order of their
 * arrival. The ranges grow over gaps and shrink where messages are dense, so a mailbox of any size
 * needs the same memory. A message at which the server refuses a range has no row, if the server
 * refuses it alone as well.
 * @param from the first UID
 * @param to the last UID, such as UIDNEXT - 1
 * @param since only messages that changed after this modification sequence (RFC 7162)
 * @throws ImapRefused, ImapLost
 */
export async function* fetchMetadata(
  wire: Wire,
  from: number,
  to: number,
  since?: string,
): AsyncGenerator<Metadata> {
  const rows = createBodyChannel<Metadata>({
    weigh: () => 1,
    limit: IMAP_LIMITS.waitingRows,
    hold: () => wire.pauseReading(),
    release: () => wire.resumeReading(),
  })
  const items = since === undefined ? itemsFor(wire) : `${itemsFor(wire)} (CHANGEDSINCE ${since})`
  let next = from
  let span = FIRST_SPAN_UIDS
  const consumer = { isGone: false }

  async function scan(): Promise<void> {
    while (next <= to && !consumer.isGone) {
      const [first, last] = [next, Math.min(to, next + span - 1)]
      next = last + 1
      const count = await scanRange(wire, first, last, items, (row) => rows.push(row))
      if (count < ROWS_PER_RANGE.few) span = Math.min(span * 4, 2 ** 31)
      else if (count > ROWS_PER_RANGE.many) span = Math.max(FIRST_SPAN_UIDS, Math.ceil(span / 2))
    }
  }

  Promise.all([scan(), scan()]).then(
    () => rows.end(),
    (error: Error) => rows.fail(error),
  )
  try {
    yield* rows
  } finally {
    consumer.isGone = true
    rows.discard()
  }
}

async function scanRange(
  wire: Wire,
  first: number,
  last: number,
  items: string,
  onRow: (row: Metadata) => void,
): Promise<number> {
  const seen = new Set<number>()
  const incomplete = new Map<number, FetchedItems>()
  const objectId = objectIdAttribute(wire)
  const take = (uid: number, found: FetchedItems) => {
    incomplete.delete(uid)
    seen.add(uid)
    onRow(metadataOf(uid, found))
  }
  const takeDescribed = () => {
    for (const [uid, found] of incomplete) if (isDescribed(found)) take(uid, found)
  }
  const data = (values: Value[]) => {
    const added = addItems(values, incomplete)
    if (!added) return false
    const { uid, items: found } = added
    if (seen.has(uid) || uid < first || uid > last) incomplete.delete(uid)
    else if (isComplete(found, objectId)) take(uid, found)
    if (incomplete.size > IMAP_LIMITS.waitingRows) takeDescribed()
    return uid >= first && uid <= last
  }
  /** Returns the refusal of a set. */
  async function runSet(set: string, wanted: string): Promise<ImapRefused | null> {
    try {
      await afterExpunges(wire, async () => wire.run([`UID FETCH ${set} ${wanted}`], { data }))
      return null
    } catch (error) {
      if (error instanceof ImapRefused && !isThrottling(error.refusal)) return error
      throw error
    }
  }
  async function scanSet(set: string, wanted = items): Promise<ImapRefused | null> {
    const refusal = await runSet(set, wanted)
    const flagless = [...incomplete].filter(
      ([, found]) => hasItemsOfIndex(found) && !found.has('FLAGS'),
    )
    if (flagless.length > 0)
      await runSet(formatUidSet(flagless.map(([uid]) => uid).toSorted(ascending)), '(UID FLAGS)')
    takeDescribed()
    return refusal
  }
  const refused = await scanSet(`${first}:${last}`)
  if (refused) {
    const left = await searchUids(wire, `UID ${first}:${last}`).catch((error: unknown) => {
      throw error instanceof ImapRefused ? refused : error
    })
    await scanHalves(
      left.filter((uid) => uid >= first && uid <= last),
      { seen, scanSet, refused },
    )
  }
  return seen.size
}

type RefusedRange = {
  seen: ReadonlySet<number>
  scanSet: (set: string, items?: string) => Promise<ImapRefused | null>
  refused: ImapRefused
}

/** Scans messages of a range that was refused, in halves, so that only those at fault have no row. */
async function scanHalves(
  uids: readonly number[],
  { seen, scanSet, refused }: RefusedRange,
): Promise<void> {
  const parts = [uids]
  let refusedAlone = 0
  for (let part = parts.pop(); part; part = parts.pop()) {
    const left = part.filter((uid) => !seen.has(uid))
    if (left.length === 0 || !(await scanSet(formatUidSet(left)))) continue
    const middle = Math.ceil(left.length / 2)
    if (left.length > 1) parts.push(left.slice(middle), left.slice(0, middle))
    else if (await scanSet(formatUidSet(left), ITEMS_OF_INDEX)) {
      refusedAlone += 1
      if (seen.size === 0 && refusedAlone === IMAP_LIMITS.refusedRows) throw refused
    }
  }
}

/** Items that servers have in an index, also of a message that they cannot open. */
const ITEMS_OF_INDEX = '(UID FLAGS INTERNALDATE RFC822.SIZE)'

/**
 * Lists a small mailbox in one command, which can be sent together with its opening: ascending, or
 * null when the server rejects it or has far more messages.
 * @throws ImapRefused when the server asks for fewer requests, ImapLost
 */
export async function fetchSmallMailbox(wire: Wire): Promise<Metadata[] | null> {
  const known = new Map<number, FetchedItems>()
  const data = (values: Value[]) =>
    known.size <= IMAP_LIMITS.waitingRows && addItems(values, known) !== null
  try {
    await wire.run([`UID FETCH 1:* ${itemsFor(wire)}`], { data })
  } catch (error) {
    if (!(error instanceof ImapRefused) || isThrottling(error.refusal)) throw error
    return null
  }
  const described = [...known].filter(([, items]) => isDescribed(items))
  // Such a server is asked in another way.
  if (known.size > IMAP_LIMITS.waitingRows || described.some(([, items]) => !items.has('FLAGS')))
    return null
  return described.map(([uid, items]) => metadataOf(uid, items)).toSorted((a, b) => a.uid - b.uid)
}

function metadataOf(uid: number, items: FetchedItems): Metadata {
  return {
    uid,
    flags: stringsOf(items.get('FLAGS')),
    internalDate: stringOf(items.get('INTERNALDATE')),
    size: numberOf(items.get('RFC822.SIZE')),
    messageIds: messageIdsOf(stringOf(items.get(headerNameOf(items) ?? '')) ?? ''),
    objectId: objectIdOf(items),
    ...(!items.has('FLAGS') && { hasNoFlags: true }),
  }
}

/** Whether it is more than an unsolicited response, such as a change of flags. */
function isDescribed(items: FetchedItems): boolean {
  return headerNameOf(items) !== undefined || hasItemsOfIndex(items)
}

function hasItemsOfIndex(items: FetchedItems): boolean {
  return items.has('RFC822.SIZE') && items.has('INTERNALDATE')
}

/** Whether no other response about the message has to be awaited. */
function isComplete(items: FetchedItems, objectId: string | undefined): boolean {
  return (
    items.has('FLAGS') &&
    (objectId === undefined || items.has(objectId)) &&
    items.has('RFC822.SIZE') &&
    items.has('INTERNALDATE') &&
    headerNameOf(items) !== undefined
  )
}

function headerNameOf(items: FetchedItems): string | undefined {
  return items.keys().find((name) => name.startsWith('BODY['))
}

function ascending(a: number, b: number): number {
  return a - b
}

/**
 * The metadata of a message that the server lists and does not describe. The fetch of its body shows
 * whether it still exists.
 */
export function undescribed(uid: number): Metadata {
  const nothing = { flags: [], internalDate: null, size: null, messageIds: [], objectId: null }
  return { uid, ...nothing, isUnknown: true }
}

/** The values of the Message-ID fields of a header, unfolded. */
export function messageIdsOf(header: string): string[] {
  const unfolded = header.replace(/\r?\n[ \t]+/g, ' ')
  return [...unfolded.matchAll(/^message-id[ \t]*:(.*)$/gim)].map(([, value = '']) => value.trim())
}
