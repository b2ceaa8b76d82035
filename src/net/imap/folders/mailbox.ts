import type { CommandResult } from '../connection/imap-command.ts'
import { astring, parseUidList, type CommandPart } from '../connection/command-encoding.ts'
import type { Listener } from '../connection/listener.ts'
import { afterExpunges } from '../fetch/retry-after-expunges.ts'
import { IMAP_LIMITS } from '../limits.ts'
import type { ByteString } from './mailbox-name.ts'
import {
  numberOf,
  pairsOf,
  positiveOf,
  stringOf,
  stringsOf,
  type ResponseCode,
  type Value,
} from '../connection/response.ts'
import { NotImap } from '../connection/response-parser.ts'
import { ImapRefused, isThrottling } from '../connection/refusals.ts'
import type { Wire } from '../connection/wire.ts'

/** A mailbox as SELECT or EXAMINE described it. */
export type OpenedMailbox = {
  exists: number
  /** Null where the server reported none: its UIDs mean nothing on another connection. */
  uidValidity: number | null
  uidNext: number | null
  /**
   * Flags that can be stored, including `\*` if any keyword can; null when the server did not
   * report them (RFC: all).
   */
  permanentFlags: string[] | null
  isReadOnly: boolean
}

export type MailboxStatus = {
  messages: number | null
  unseen: number | null
  uidNext: number | null
  uidValidity: number | null
  /** The highest modification sequence (RFC 7162), where it was requested and is supported. */
  modseq: string | null
  /** The sum of all sizes in bytes (RFC 8438), where it was requested and is supported. */
  size: number | null
}

/** Items of a STATUS that cost a server some work. They are requested only where it supports them. */
export type StatusOptions = { withModseq?: boolean; withSize?: boolean }

/**
 * Opens a source mailbox read-only, without changing a flag (EXAMINE).
 * @param name exactly as listed
 * @throws ImapRefused, ImapLost
 */
export async function examine(wire: Wire, name: ByteString): Promise<OpenedMailbox> {
  return open(wire, 'EXAMINE', name)
}

/**
 * Opens a destination mailbox with SELECT, because only then are its PERMANENTFLAGS reliable.
 * @throws ImapRefused, ImapLost
 */
export async function select(wire: Wire, name: ByteString): Promise<OpenedMailbox> {
  return open(wire, 'SELECT', name)
}

async function open(wire: Wire, verb: OpeningVerb, name: ByteString): Promise<OpenedMailbox> {
  const opening = createOpening(verb, name)
  return opening.end(await wire.run(opening.parts, opening.listener))
}

export type OpeningVerb = 'SELECT' | 'EXAMINE'

/** A command that opens a mailbox, and the mailbox as its responses describe it. */
export type Opening = {
  parts: CommandPart[]
  listener: Listener
  end(result: CommandResult): OpenedMailbox
}

export function createOpening(verb: OpeningVerb, name: ByteString): Opening {
  const opened: OpenedMailbox = {
    exists: 0,
    uidValidity: null,
    uidNext: null,
    permanentFlags: null,
    isReadOnly: false,
  }
  return {
    parts: [`${verb} `, astring(name)],
    listener: {
      about: name,
      data(values) {
        if (values[1] !== 'EXISTS') return false
        opened.exists = numberOf(values[0]) ?? 0
        return true
      },
      code: (code) => applyCode(opened, code),
    },
    end: ({ code }) => ({ ...opened, isReadOnly: code?.name === 'READ-ONLY' }),
  }
}

function applyCode(opened: OpenedMailbox, { name, args }: ResponseCode): void {
  if (name === 'UIDVALIDITY') opened.uidValidity = numberOf(args[0])
  if (name === 'UIDNEXT') opened.uidNext = positiveOf(args[0])
  if (name === 'PERMANENTFLAGS') opened.permanentFlags = stringsOf(args[0])
}

/**
 * Reads the counts of a mailbox, which need not be open. A server that does not know an item is
 * asked for MESSAGES alone.
 * @throws ImapRefused (`no_such_mailbox` for any NO without a better reason, because Dovecot gives
 *   none), ImapLost
 */
export async function readStatus(
  wire: Wire,
  name: ByteString,
  options: StatusOptions = {},
): Promise<MailboxStatus> {
  try {
    return await runStatus(wire, name, statusItems(wire, options))
  } catch (error) {
    if (!isBad(error)) throw error
    return runStatus(wire, name, 'MESSAGES')
  }
}

/** The items of a STATUS command: HIGHESTMODSEQ and SIZE only where the server supports them. */
export function statusItems(
  { capabilities }: Wire,
  { withModseq = false, withSize = false }: StatusOptions,
): string {
  const items = ['MESSAGES UNSEEN UIDNEXT UIDVALIDITY']
  if (withModseq && capabilities.has('CONDSTORE')) items.push('HIGHESTMODSEQ')
  if (withSize && capabilities.has('STATUS=SIZE')) items.push('SIZE')
  return items.join(' ')
}

function isBad(error: unknown): boolean {
  return error instanceof ImapRefused && error.refusal.status === 'BAD'
}

/**
 * Reads the counts with the sum of all sizes (STATUS=SIZE, RFC 8438).
 * @throws ImapRefused, ImapLost
 */
export async function readStatusWithSize(wire: Wire, name: ByteString): Promise<MailboxStatus> {
  return runStatus(wire, name, 'MESSAGES UIDNEXT UIDVALIDITY SIZE')
}

async function runStatus(wire: Wire, name: ByteString, items: string): Promise<MailboxStatus> {
  let found: MailboxStatus | undefined
  await wire.run(['STATUS ', astring(name), ` (${items})`], {
    about: name,
    data(values) {
      if (values[0] !== 'STATUS' || !isSameName(stringOf(values[1]), name)) return false
      found = parseStatus(values[2])
      return true
    },
  })
  return found ?? parseStatus(undefined)
}

/**
 * Reads the highest modification sequence (RFC 7162). Servers count modifications from the first
 * request on.
 * @returns null where the server does not support it
 * @throws ImapLost
 */
export async function highestModseq(wire: Wire, name: ByteString): Promise<string | null> {
  if (!wire.capabilities.has('CONDSTORE')) return null
  let found: string | null = null
  try {
    await wire.run(['STATUS ', astring(name), ' (HIGHESTMODSEQ)'], {
      about: name,
      data(values) {
        if (values[0] !== 'STATUS' || !isSameName(stringOf(values[1]), name)) return false
        found = stringOf(pairsOf(values[2]).get('HIGHESTMODSEQ'))
        return true
      },
    })
  } catch (error) {
    if (!(error instanceof ImapRefused)) throw error
  }
  return countedModseq(found)
}

/** A number of 63 bits. A mailbox without modification sequences has 0 (RFC 7162, 3.1.2.2). */
function countedModseq(value: string | null): string | null {
  return value !== null && /^[1-9]\d{0,18}$/.test(value) ? value : null
}

/** Parses the items of a STATUS response. */
export function parseStatus(items: Value | undefined): MailboxStatus {
  const pairs = pairsOf(items)
  const count = (name: string) => numberOf(pairs.get(name))
  return {
    messages: count('MESSAGES'),
    unseen: count('UNSEEN'),
    uidNext: positiveOf(pairs.get('UIDNEXT')),
    uidValidity: count('UIDVALIDITY'),
    modseq: countedModseq(stringOf(pairs.get('HIGHESTMODSEQ'))),
    size: count('SIZE'),
  }
}

function isSameName(answered: string | null, asked: ByteString): boolean {
  return (
    answered === asked || (asked.toUpperCase() === 'INBOX' && answered?.toUpperCase() === 'INBOX')
  )
}

/**
 * Searches for UIDs, ascending.
 * @param criteria such as `UID 5:9 UNDELETED`, with one character per byte
 * @throws ImapRefused, ImapLost
 */
export async function searchUids(wire: Wire, criteria: ByteString): Promise<number[]> {
  const uids: number[] = []
  // Ranges (RFC 4731) where the server supports them: hundreds of thousands of numbers would be a
  // long line.
  const verb = wire.capabilities.has('ESEARCH') ? 'UID SEARCH RETURN (ALL)' : 'UID SEARCH'
  const data = (values: Value[]) => {
    if (values[0] === 'ESEARCH') addRanges(uids, values)
    else if (values[0] === 'SEARCH') addNumbers(uids, values.slice(1))
    else return false
    return true
  }
  await afterExpunges(wire, async () => wire.run([`${verb} ${criteria}`], { data }))
  return isAscending(uids) ? uids : [...new Set(uids)].toSorted((a, b) => a - b)
}

/**
 * Lists the UIDs of the open mailbox by FETCH, for servers whose SEARCH omits messages.
 * @param set of which the UIDs are listed; all without it
 * @returns null where the server rejects it
 * @throws ImapRefused when the server asks to retry later, ImapLost
 */
export async function fetchUids(wire: Wire, set = '1:*'): Promise<number[] | null> {
  const uids: number[] = []
  const data = (values: Value[]) => {
    const uid = values[1] === 'FETCH' ? positiveOf(pairsOf(values[2]).get('UID')) : null
    if (uid !== null) uids.push(uid)
    return uid !== null
  }
  try {
    await afterExpunges(wire, async () => wire.run([`UID FETCH ${set} (UID)`], { data }))
    return uids
  } catch (error) {
    if (!(error instanceof ImapRefused) || isThrottling(error.refusal)) throw error
    return null
  }
}

function addNumbers(uids: number[], values: Value[]): void {
  for (const value of values) {
    const uid = positiveOf(value)
    if (uid !== null) uids.push(uid)
  }
}

/** `* ESEARCH (TAG "P5") UID ALL 1:3,7`; without ALL there are none. */
function addRanges(uids: number[], values: Value[]): void {
  const at = values.findIndex((value) => stringOf(value)?.toUpperCase() === 'ALL')
  if (at === -1) return
  const found = parseUidList(stringOf(values[at + 1]) ?? '', IMAP_LIMITS.messages)
  if (!found) throw new NotImap('it found what is no set of messages')
  for (const uid of found) if (uid > 0) uids.push(uid)
}

function isAscending(uids: number[]): boolean {
  return uids.every((uid, index) => index === 0 || (uids[index - 1] as number) < uid)
}
