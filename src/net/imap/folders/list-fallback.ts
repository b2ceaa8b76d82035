import { astring, type CommandPart } from '../connection/command-encoding.ts'
import { LIMITS } from '../limits.ts'
import { statusOf, type MailboxStatus } from './mailbox.ts'
import type { ByteString } from './mailbox-name.ts'
import { ImapLost, ImapRefused, isTemporary } from '../connection/refusals.ts'
import { stringOf, stringsOf, type Value } from '../connection/response.ts'
import type { Wire } from '../connection/wire.ts'

/** One line of a LIST, LSUB or XLIST answer. */
export type ListedMailbox = {
  name: ByteString
  delimiter: string | null
  flags: string[]
  /** Where the server told it in the same breath (LIST-STATUS). */
  status: MailboxStatus | null
  /** Null where the server did not say. */
  isSubscribed: boolean | null
}

/** What a listing went through: whether a plain `LIST "" "*"` was refused, and how far down the ladder it went. */
export type MailboxList = { listed: ListedMailbox[]; listFailed: boolean; strategy: 'list' | 'other' | 'none' }

/**
 * Lists all mailboxes in whatever way the server allows: some refuse LIST with NO, some do not know RETURN, some take
 * only certain patterns.
 * @throws ImapRefused when the server asks us to come back later, ImapLost
 */
export async function listMailboxes(wire: Wire): Promise<MailboxList> {
  const first = (await tryExtendedList(wire)) ?? (await tryList(wire, 'LIST', '', '*'))
  if (first) return { listed: first, listFailed: false, strategy: 'list' }
  for (const rung of FALLBACK_STRATEGIES) {
    const listed = await rung(wire)
    if (listed.length > 0) return { listed, listFailed: true, strategy: 'other' }
  }
  return { listed: [], listFailed: true, strategy: 'none' }
}

/** Counts, subscriptions and special uses in one answer, where the server says it can. */
async function tryExtendedList(wire: Wire): Promise<ListedMailbox[] | null> {
  const has = (capability: string) => wire.capabilities.has(capability)
  if (!has('LIST-EXTENDED')) return null
  const options = ['SUBSCRIBED', 'CHILDREN']
  if (has('SPECIAL-USE')) options.push('SPECIAL-USE')
  if (has('LIST-STATUS')) options.push('STATUS (MESSAGES UNSEEN UIDNEXT UIDVALIDITY)')
  return runList(wire, ['LIST "" "*" RETURN (', options.join(' '), ')'], 'LIST', true)
}

const FALLBACK_STRATEGIES: ((wire: Wire) => Promise<ListedMailbox[]>)[] = [
  async (wire) => (wire.capabilities.has('XLIST') ? ((await tryList(wire, 'XLIST', '', '*')) ?? []) : []),
  levelByLevel,
  async (wire) => {
    const patterns = [tryList(wire, 'LIST', '', 'INBOX'), tryList(wire, 'LIST', 'INBOX', '*')]
    patterns.push(tryList(wire, 'LIST', '', 'INBOX.*'), tryList(wire, 'LIST', '', 'INBOX/*'))
    return unique((await Promise.all(patterns)).flatMap((listed) => listed ?? []))
  },
  async (wire) => (await tryList(wire, 'LSUB', '', '*')) ?? [],
]

/** `%` stops at the delimiter: the top, then what lies below each that may have children. */
async function levelByLevel(wire: Wire): Promise<ListedMailbox[]> {
  const all: ListedMailbox[] = []
  for (let level = await tryList(wire, 'LIST', '', '%'); level && level.length > 0;) {
    all.push(...level)
    if (all.length > LIMITS.folders) throw tooManyFolders()
    const parents = level.filter(({ delimiter, flags }) => delimiter && !flags.some(isChildless))
    const below = parents.map(({ name, delimiter }) => tryList(wire, 'LIST', '', `${name}${delimiter}%`))
    const known = new Set(all.map(({ name }) => name))
    level = (await Promise.all(below)).flatMap((listed) => listed ?? []).filter(({ name }) => !known.has(name))
  }
  return unique(all)
}

function isChildless(flag: string): boolean {
  return /^\\(?:HasNoChildren|NoInferiors)$/i.test(flag)
}

/** Null when the server refused. */
async function tryList(
  wire: Wire,
  verb: string,
  reference: string,
  pattern: ByteString,
): Promise<ListedMailbox[] | null> {
  // Wildcards in the names of parents are listed as wildcards, which costs nothing but time.
  return runList(wire, [`${verb} "${reference}" `, astring(pattern)], verb, verb === 'LSUB' ? true : null)
}

/** A folder has a line of its own and one with its figures; some servers say one of them twice. */
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
        // A listing that goes on and on would never be answered.
        lines += 1
        if (listed.size > LIMITS.folders || lines > MAX_LINES_PER_FOLDER * LIMITS.folders)
          wire.destroy(tooManyFolders())
        return addListed(values, verb, tellsSubscribed, listed)
      },
    })
    return [...listed.values()]
  } catch (error) {
    // Zimbra says a bare NO; others BAD to what they do not know. “Come back later” is no refusal of the form.
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
    if (entry) entry.status = statusOf(values[2])
    return entry !== undefined
  }
  const name = stringOf(values[3])
  // Some servers answer XLIST with LIST lines and the other way round.
  if (kind === undefined || !/^(?:X?LIST|LSUB)$/.test(kind) || name === null || name === '') return false
  if (verb === 'LSUB' && kind !== 'LSUB') return false
  const flags = stringsOf(values[1])
  const isSubscribed = tells === null ? null : verb === 'LSUB' || flags.some((flag) => /^\\Subscribed$/i.test(flag))
  listed.set(name, { name, delimiter: stringOf(values[2]), flags, status: null, isSubscribed })
  return true
}

/** Some of them in place of all would look like all. */
function tooManyFolders(): ImapLost {
  const most = LIMITS.folders.toLocaleString('en')
  return new ImapLost('protocol', `The account has more than ${most} folders, which is more than can be listed.`)
}

function unique(listed: ListedMailbox[]): ListedMailbox[] {
  return [...new Map(listed.map((entry) => [entry.name, entry])).values()]
}

/**
 * Names the user is subscribed to (LSUB); null when the server refuses.
 * @throws ImapLost
 */
export async function listSubscriptions(wire: Wire): Promise<Set<ByteString> | null> {
  const listed = await tryList(wire, 'LSUB', '', '*')
  return listed && new Set(listed.map(({ name }) => name))
}
