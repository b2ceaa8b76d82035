import {
  fetchMetadata,
  undescribed,
  type Metadata,
} from '../../../net/imap/fetch/fetch-metadata.ts'
import { epochMsOf } from '../../../net/imap/append/flags-and-dates.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import { listWhole, undecidable } from '../folder/list-messages.ts'
import { settledAll } from '../settled-all.ts'
import { readContents, type Content } from './content.ts'
import { COVERED_BYTES, FINGERPRINT_BYTES, messageIdOf, shortenKey } from './message-fingerprint.ts'
import { identify, type IdentifiedMessage } from './identify.ts'

/** A message of the destination. It is the counterpart of one message of the source at most. */
type Candidate = {
  uid: number
  size: number | null
  date: number | null
  isTaken: boolean
  /** Undefined until it was read, null where the server does not return it. */
  content?: Pick<Content, 'loose' | 'fingerprint'> | null
}

/**
 * Whether a message of the destination with other bytes is our own copy nevertheless: servers may add
 * header fields or rewrite the structure of a message.
 */
export type OwnCopyTest = (
  row: Metadata,
  copy: {
    content: Content
    /** Whether the destination returns it. */
    isReturned: boolean
    /** Whether it has the same main header fields and the same beginning. */
    isAlike: boolean
    /** Whether no other message of the destination has its key. */
    isOnly: boolean
  },
) => boolean

/**
 * Whether the destination has a message of the source: with the same content (`to` is its UID), as
 * the counterpart of another, equal one (`repeated`), or only one with the same Message-ID (`other`,
 * or `unreadable` where the destination does not return it). A Message-ID alone is no identity: drafts
 * and messages whose attachments were removed keep theirs. `unidentified`: the source does not return
 * it, so this is not known. `undecided`: nor is it where the destination does not return a message
 * without Message-ID of the same size.
 */
export type Match =
  | { is: 'same'; to: number }
  | { is: 'repeated' | 'other' | 'unreadable' | 'unidentified' | 'undecided' }

type MatchOptions = {
  /** Without it, only the same content counts. */
  isOwnCopy?: OwnCopyTest | null
  /** Whether only the same bytes count, beside line ends. */
  isStrict?: boolean
  /**
   * The first UID of what arrived since ours were sent. It is taken before what was there, and also
   * where the source does not return the message now.
   */
  sentFrom?: number
}

/** Messages of a folder of the destination, by Message-ID, or by their beginning without one. */
export class ExistingMessages {
  readonly #byKey = new Map<string, Candidate[]>()
  /** Messages of the source that have counterparts here, by `counterpartKey`. */
  readonly #accounted = new Map<string, Metadata[]>()
  /** Sizes of messages without Message-ID that the server does not return. */
  readonly #unreadableSizes: (number | null)[] = []
  #count = 0
  /** Messages that the server lists and neither describes nor returns. */
  undescribed = 0

  get count(): number {
    return this.#count
  }

  /** Messages of which it is not known what they are. */
  get unreadable(): number {
    return this.undescribed + this.#unreadableSizes.length
  }

  /** Whether some are not counterparts of any message of the source. */
  get hasFree(): boolean {
    return this.#byKey.values().some((candidates) => candidates.some(({ isTaken }) => !isTaken))
  }

  add(key: string, { uid, size, internalDate }: Metadata): void {
    const candidate = { uid, size, date: momentOf(internalDate), isTaken: false }
    push(this.#byKey, shortenKey(key), candidate)
    this.#count += 1
  }

  /** Adds a message without Message-ID that the server does not return. */
  addUnreadable({ size }: Metadata): void {
    this.#unreadableSizes.push(size)
  }

  /** Adds a message of the source that has a counterpart here, which stands for no other one. */
  addAccounted(row: Metadata): void {
    push(this.#accounted, counterpartKey(row), row)
  }

  /** Takes messages that are counterparts already, by their UIDs. */
  takeUids(isCounterpart: (uid: number) => boolean): void {
    for (const candidate of [...this.#byKey.values()].flat())
      candidate.isTaken ||= isCounterpart(candidate.uid)
  }

  /**
   * Finds the messages that are there, by UID. Equal messages are counted: two of the source need
   * two of the destination. Messages with the same Message-ID are read on both sides; unless
   * `isStrict`, large ones with the same size and date are not.
   * @param source with the folder open
   * @param destination with the folder open
   * @throws ImapRefused, ImapLost
   */
  async match(
    rows: readonly Metadata[],
    source: Wire,
    destination: Wire,
    { isOwnCopy = null, isStrict = false, sentFrom = Infinity }: MatchOptions = {},
  ): Promise<Map<number, Match>> {
    const contents = new Map<number, Content>()
    const keys = new Map<number, string>()
    const identifyRows = async (some: readonly Metadata[]) => {
      const named = some.filter((row) => this.#hasCandidates(messageIdOf(row.messageIds)))
      const nameless = this.#count === 0 ? [] : some.filter((row) => isNameless(row))
      const doubtful = named.filter(
        (row) => isStrict || !this.#candidatesOf(row).some((one) => isSure(row, one)),
      )
      // At the same time on both sides: this is what most of a first run over existing mail takes.
      const [read] = await settledAll([
        readContents(source, [...doubtful, ...nameless]),
        readCandidates(
          destination,
          doubtful.flatMap((row) => this.#candidatesOf(row)),
        ),
      ])
      for (const [uid, content] of read) contents.set(uid, content)
      for (const row of [...named, ...nameless]) {
        const key = messageIdOf(row.messageIds) ?? contents.get(row.uid)?.key ?? null
        if (key !== null && this.#hasCandidates(key)) keys.set(row.uid, key)
      }
    }
    await identifyRows(rows)
    const accounted = this.#accountedLike(rows, keys)
    await identifyRows(accounted)
    const concerned = [...accounted, ...rows].filter(({ uid }) => keys.has(uid))
    const compared = concerned.filter(({ uid }) => contents.has(uid))
    await readCandidates(
      destination,
      compared.flatMap(({ uid }) => this.#candidates(keys.get(uid) as string)),
    )
    const matches = new Map<number, Match>()
    if (this.#count > 0)
      for (const { uid } of rows.filter(isNameless))
        if (!keys.has(uid) && !contents.has(uid)) matches.set(uid, UNIDENTIFIED)
    const pairs = concerned.map((row) => ({
      row,
      content: contents.get(row.uid),
      candidates: this.#candidates(keys.get(row.uid) as string),
      isAccounted: accounted.includes(row),
    }))
    // Only now: until here, all of it is repeated when a connection breaks.
    for (const row of accounted) this.#accounted.delete(counterpartKey(row))
    // Equal content first, so that no other message takes its counterpart.
    for (const take of [takeEqual, takeLike])
      for (const pair of pairs.filter(({ row }) => !matches.has(row.uid))) {
        const match = take(pair, { isOwnCopy, isStrict, sentFrom })
        if (match) matches.set(pair.row.uid, match)
      }
    for (const row of rows.filter((each) =>
      this.#isUndecided(each, matches.get(each.uid), contents.get(each.uid)),
    ))
      matches.set(row.uid, { is: 'undecided' })
    return matches
  }

  /** Messages with counterparts here that may be candidates of these rows as well. */
  #accountedLike(rows: readonly Metadata[], keys: ReadonlyMap<number, string>): Metadata[] {
    if (this.#accounted.size === 0) return []
    const wanted = new Set<string>([sizeKey(null)])
    for (const row of rows) {
      const key = keys.get(row.uid)
      if (key !== undefined) wanted.add(shortenKey(key))
      wanted.add(counterpartKey(row))
    }
    return [...wanted].flatMap((key) => this.#accounted.get(key) ?? [])
  }

  #isUndecided(row: Metadata, match: Match | undefined, content: Content | undefined): boolean {
    if (match && match.is !== 'repeated') return false
    if (content ? content.key !== content.fingerprint : !isNameless(row)) return false
    return this.#unreadableSizes.some(
      (size) => [size, row.size].includes(null) || size === row.size,
    )
  }

  #candidatesOf({ messageIds }: Metadata): readonly Candidate[] {
    return this.#candidates(messageIdOf(messageIds) ?? '')
  }

  #candidates(key: string): readonly Candidate[] {
    return this.#byKey.get(shortenKey(key)) ?? []
  }

  #hasCandidates(key: string | null): boolean {
    return key !== null && this.#byKey.has(shortenKey(key))
  }
}

function isNameless({ messageIds }: Metadata): boolean {
  return messageIdOf(messageIds) === null
}

/** Equal messages of one server have it in common. */
function counterpartKey({ messageIds, size }: Metadata): string {
  const id = messageIdOf(messageIds)
  return id === null ? sizeKey(size) : shortenKey(id)
}

/** No Message-ID has a space. */
function sizeKey(size: number | null): string {
  return `size ${size}`
}

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key)
  if (list) list.push(item)
  else lists.set(key, [item])
}

type Pair = {
  row: Metadata
  content: Content | undefined
  candidates: readonly Candidate[]
  /** Whether it certainly has a counterpart. */
  isAccounted: boolean
}

function takeEqual(pair: Pair, { isStrict, sentFrom }: Required<MatchOptions>): Match | null {
  return pair.content || !isStrict ? takeFirst(equalsOf(pair), sentFrom) : null
}

function equalsOf({ row, content, candidates }: Pair): Candidate[] {
  return candidates.filter((one) =>
    content ? one.content?.loose.equals(content.loose) === true : isSure(row, one),
  )
}

function takeLike(
  pair: Pair,
  { isOwnCopy, isStrict, sentFrom }: Required<MatchOptions>,
): Match | null {
  const { row, content, candidates, isAccounted } = pair
  if (!content) {
    // The source does not return it now. A copy of ours is found nevertheless.
    const since = isAccounted ? candidates : candidates.filter(({ uid }) => uid >= sentFrom)
    const sized = since.filter((one) => one.size === row.size)
    return takeFirst([...sized, ...since]) ?? (isAccounted ? null : UNIDENTIFIED)
  }
  const isOnly = candidates.length === 1
  const like = candidates.filter((one) => {
    const isReturned = Boolean(one.content)
    const isAlike = one.content?.fingerprint === content.fingerprint
    if (isAlike && !isStrict && isCovered(row)) return true
    return isOwnCopy?.(row, { content, isReturned, isAlike, isOnly }) === true
  })
  const match = takeFirst(like, sentFrom)
  if (match) return match
  const unread = candidates.filter(({ content: its }) => its === null)
  const isUnread = unread.length > 0
  // One that the server does not return may be its counterpart.
  const mayBeThere = unread.some(({ isTaken }) => !isTaken)
  if (equalsOf(pair).length > 0 && !mayBeThere) return { is: 'repeated' }
  // A message without Message-ID shares only its beginning with another one, which identifies
  // nothing.
  if (content.key === content.fingerprint) return isUnread ? { is: 'undecided' } : null
  return { is: isUnread ? 'unreadable' : 'other' }
}

const UNIDENTIFIED: Match = { is: 'unidentified' }

function takeFirst(candidates: readonly Candidate[], sentFrom = 0): Match | null {
  const left = candidates.filter(({ isTaken }) => !isTaken)
  const free = left.find(({ uid }) => uid >= sentFrom) ?? left[0]
  if (!free) return null
  free.isTaken = true
  return { is: 'same', to: free.uid }
}

/** Whether the beginning of a message without Message-ID is all of its text. */
function isCovered(row: Metadata): boolean {
  return isNameless(row) && row.size !== null && row.size < COVERED_BYTES
}

/** A large message with the same Message-ID, size and date is not read. */
function isSure({ size, internalDate }: Metadata, candidate: Candidate): boolean {
  if (size === null || size <= FINGERPRINT_BYTES || candidate.size !== size) return false
  const date = momentOf(internalDate)
  return date !== null && date === candidate.date
}

async function readCandidates(wire: Wire, candidates: readonly Candidate[]): Promise<void> {
  const unread = [...new Set(candidates)].filter(({ content }) => content === undefined)
  unread.sort((a, b) => a.uid - b.uid)
  const contents = await readContents(wire, unread)
  for (const candidate of unread) {
    candidate.content = contents.get(candidate.uid) ?? null
  }
}

/**
 * Of messages with the same Message-ID, the destination has fewer than were sent, and does not return
 * one: it can be any of them.
 * @throws FolderStop
 */
export function requireDecided(matches: ReadonlyMap<number, Match>, path: string): void {
  const count = [...matches.values()].filter(
    ({ is }) => is === 'unreadable' || is === 'undecided',
  ).length
  if (count > 0) throw undecidable(count, path)
}

function momentOf(date: string | null): number | null {
  return date === null ? null : epochMsOf(date)
}

/** The messages of a mailbox, by ascending UIDs, and those of which it is not known what they are. */
export type Identified = {
  found: IdentifiedMessage[]
  /** Metadata of those that the server does not return; `isUnknown` where it has none either. */
  unreadable: Metadata[]
}

/**
 * Identifies listed messages of the open mailbox. One that the server omits is asked for alone.
 * @param listed ascending
 * @throws ImapRefused, ImapLost
 */
export async function identifyListed(view: Wire, listed: readonly number[]): Promise<Identified> {
  const unreadable: Metadata[] = []
  const [first, last] = [listed[0], listed.at(-1)]
  if (first === undefined || last === undefined) return { found: [], unreadable }
  const wanted = new Set(listed)
  const found = await Array.fromAsync(identify(view, first, last, (uid) => wanted.has(uid)))
  const known = new Set(found.map(({ uid }) => uid))
  for (const uid of listed.filter((one) => !known.has(one))) {
    const one = await identifyAlone(view, uid)
    if ('key' in one) found.push(one)
    else unreadable.push(one)
  }
  return { found: found.toSorted((a, b) => a.uid - b.uid), unreadable }
}

/** By its metadata, or by its body where the server does not describe it. */
async function identifyAlone(view: Wire, uid: number): Promise<IdentifiedMessage | Metadata> {
  const [described] = await Array.fromAsync(identify(view, uid, uid))
  if (described) return described
  const content = (await readContents(view, [{ uid, size: null }])).get(uid)
  if (content) return { uid, key: content.key, size: 0, row: undescribed(uid) }
  const [row] = await Array.fromAsync(fetchMetadata(view, uid, uid))
  return row ?? undescribed(uid)
}

/**
 * Lists the messages of the open mailbox, by ascending UIDs. One that the server omits is asked for
 * alone: it would be copied a second time.
 * @param uids `from` the first UID, `before` the one after the last
 * @throws FolderStop when it lists fewer than it claims to have, ImapRefused, ImapLost
 */
export async function listExisting(
  view: MailboxView,
  { from = 1, before = 2 ** 32 }: { from?: number; before?: number },
  isWanted: (uid: number) => boolean = () => true,
): Promise<ExistingMessages> {
  const existing = new ExistingMessages()
  if (before <= from) return existing
  const listed = (await listWhole(view)).filter((uid) => uid >= from && uid < before)
  const { found, unreadable } = await identifyListed(view, listed.filter(isWanted))
  for (const row of unreadable) {
    if (row.isUnknown) existing.undescribed += 1
    else existing.addUnreadable(row)
  }
  for (const { key, row } of found) existing.add(key, row)
  return existing
}
