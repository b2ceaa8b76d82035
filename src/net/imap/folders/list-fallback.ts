import { astring, type CommandPart } from '../connection/command-encoding.ts'
import { IMAP_LIMITS } from '../limits.ts'
import { parseStatus, statusItems, type MailboxStatus, type StatusOptions } from './mailbox.ts'
import type { ByteString } from './mailbox-name.ts'
import { ImapLost, ImapRefused, isTemporary } from '../connection/refusals.ts'
import { stringOf, stringsOf, type Value } from '../connection/response.ts'
import type { Wire } from '../connection/wire.ts'

/** One line of a LIST, LSUB or XLIST answer. */
export type ListedMailbox = {
  name: ByteString
  delimiter: string | null
  flags: string[]
  /** The counts, if the server returned them with the list (LIST-STATUS). */
  status: MailboxStatus | null
  /** Null where the server did not report it. */
  isSubscribed: boolean | null
}

/**
 * The mailboxes, whether a plain `LIST "" "*"` was rejected, and whether there may be others that
 * the server did not list.
 */
export type MailboxList = { listed: ListedMailbox[]; listFailed: boolean; isPartial: boolean }

/** What one way of listing found, and whether it can have left out mailboxes. */
type Found = Pick<MailboxList, 'listed' | 'isPartial'>

/**
 * Lists all mailboxes in any way that the server allows: some reject LIST with NO, some do not know
 * RETURN, some accept only certain patterns.
 * @param counts further counts to request with the list; null for none at all
 * @throws ImapRefused when the server asks to retry later, ImapLost
 */
export async function listMailboxes(
  wire: Wire,
  counts: StatusOptions | null = {},
): Promise<MailboxList> {
  const first = (await tryExtendedList(wire, counts)) ?? (await tryList(wire, 'LIST', '', '*'))
  if (first) return { listed: first, listFailed: false, isPartial: false }
  for (const tryStrategy of FALLBACK_STRATEGIES) {
    const found = await tryStrategy(wire)
    if (found.listed.length > 0) return { ...found, listFailed: true }
  }
  return { listed: [], listFailed: true, isPartial: true }
}

/** Requests counts, subscriptions and special uses in one command, where the server supports it. */
async function tryExtendedList(
  wire: Wire,
  counts: StatusOptions | null,
): Promise<ListedMailbox[] | null> {
  const has = (capability: string) => wire.capabilities.has(capability)
  if (!has('LIST-EXTENDED')) return null
  const options = ['SUBSCRIBED', 'CHILDREN']
  if (has('SPECIAL-USE')) options.push('SPECIAL-USE')
  if (counts && has('LIST-STATUS')) options.push(`STATUS (${statusItems(wire, counts)})`)
  return runList(wire, ['LIST "" "*" RETURN (', options.join(' '), ')'], 'LIST', true)
}

const FALLBACK_STRATEGIES: ((wire: Wire) => Promise<Found>)[] = [
  async (wire) => ({
    listed: wire.capabilities.has('XLIST') ? ((await tryList(wire, 'XLIST', '', '*')) ?? []) : [],
    isPartial: false,
  }),
  levelByLevel,
  async (wire) => {
    const patterns = [tryList(wire, 'LIST', '', 'INBOX'), tryList(wire, 'LIST', 'INBOX', '*')]
    patterns.push(tryList(wire, 'LIST', '', 'INBOX.*'), tryList(wire, 'LIST', '', 'INBOX/*'))
    const listed = unique((await Promise.all(patterns)).flatMap((found) => found ?? []))
    return { listed, isPartial: true }
  },
  async (wire) => ({ listed: (await tryList(wire, 'LSUB', '', '*')) ?? [], isPartial: true }),
]

/**
 * `%` stops at the delimiter: lists the top level, then the level below each folder that may have
 * children.
 */
async function levelByLevel(wire: Wire): Promise<Found> {
  const all: ListedMailbox[] = []
  let isPartial = false
  for (let level = await tryList(wire, 'LIST', '', '%'); level && level.length > 0;) {
    all.push(...level)
    if (all.length > IMAP_LIMITS.folders) throw tooManyFolders()
    const parents = level.filter(({ delimiter, flags }) => delimiter && !flags.some(isChildless))
    const below = parents.map(({ name, delimiter }) =>
      tryList(wire, 'LIST', '', `${name}${delimiter}%`),
    )
    const known = new Set(all.map(({ name }) => name))
    const answers = await Promise.all(below)
    isPartial ||= answers.includes(null)
    level = answers.flatMap((listed) => listed ?? []).filter(({ name }) => !known.has(name))
  }
  return { listed: unique(all), isPartial }
}

function isChildless(flag: string): boolean {
  return /^\\(?:HasNoChildren|NoInferiors)$/i.test(flag)
}

/** Runs one LIST, LSUB or XLIST. Null when the server rejected it. */
async function tryList(
  wire: Wire,
  verb: string,
  reference: string,
  pattern: ByteString,
): Promise<ListedMailbox[] | null> {
  // Wildcards in the names of parents match as wildcards, which only costs time.
  return runList(
    wire,
    [`${verb} "${reference}" `, astring(pattern)],
    verb,
    verb === 'LSUB' ? true : null,
  )
}

/**
 * A folder has one line for its name and one for its counts; some servers send one of them twice.
 */
const MAX_LINES_PER_FOLDER = 3

async function runList(
  wire: Wire,
  parts: CommandPart[],
  verb: string,
  tellsSubscribed: boolean | null,
): Promise<ListedMailbox[] | null> {
  const listed = new Map<ByteString, ListedMailbox>()
  let lines = 0
  try {
    await wire.run(parts, {
      data(values) {
        // An endless list would never be answered.
        lines += 1
        if (listed.size > IMAP_LIMITS.folders || lines > MAX_LINES_PER_FOLDER * IMAP_LIMITS.folders)
          wire.destroy(tooManyFolders())
        return addListed(values, verb, tellsSubscribed, listed)
      },
    })
    return [...listed.values()]
  } catch (error) {
    // Zimbra sends a bare NO, others a BAD to commands they do not know. A request to retry later
    // is not a rejection of the form.
    if (error instanceof ImapRefused && !isTemporary(error.refusal)) return null
    throw error
  }
}

function addListed(
  values: Value[],
  verb: string,
  tells: boolean | null,
  listed: Map<ByteString, ListedMailbox>,
): boolean {
  const kind = stringOf(values[0])?.toUpperCase()
  if (kind === 'STATUS') {
    const entry = listed.get(stringOf(values[1]) ?? '')
    if (entry) entry.status = parseStatus(values[2])
    return entry !== undefined
  }
  // Some servers answer XLIST with LIST lines, or the reverse.
  if (kind === undefined || !/^(?:X?LIST|LSUB)$/.test(kind)) return false
  if (verb === 'LSUB' && kind !== 'LSUB') return false
  const { flags, delimiter, name } = partsOf(values)
  if (name === null || name === '') return false
  const isSubscribed =
    tells === null ? null : verb === 'LSUB' || flags.some((flag) => /^\\Subscribed$/i.test(flag))
  listed.set(name, {
    name,
    delimiter: delimiter || null,
    flags,
    status: null,
    isSubscribed,
  })
  return true
}

/** Flags, delimiter and name. A line without one of the first two must not lose its folder. */
function partsOf(values: Value[]) {
  const [, flags, delimiter, name] = values
  if (name !== undefined)
    return { flags: stringsOf(flags), delimiter: stringOf(delimiter), name: stringOf(name) }
  const strings = values.slice(1).filter((value) => stringOf(value) !== null)
  const before = strings.length > 1 ? stringOf(strings[0]) : null
  return { flags: stringsOf(flags), delimiter: before, name: stringOf(strings.at(-1)) }
}

/** An incomplete list would look complete. */
function tooManyFolders(): ImapLost {
  const most = IMAP_LIMITS.folders.toLocaleString('en')
  return new ImapLost(
    'protocol',
    `The account has more than ${most} folders, which is more than can be listed.`,
  )
}

function unique(listed: ListedMailbox[]): ListedMailbox[] {
  return [...new Map(listed.map((entry) => [entry.name, entry])).values()]
}

/**
 * Lists the subscribed names (LSUB); null when the server rejects it.
 * @throws ImapLost
 */
export async function listSubscriptions(wire: Wire): Promise<Set<ByteString> | null> {
  const listed = await tryList(wire, 'LSUB', '', '*')
  return listed && new Set(listed.map(({ name }) => name))
}
