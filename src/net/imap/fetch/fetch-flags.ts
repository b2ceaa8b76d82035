import { ImapRefused } from '../connection/refusals.ts'
import { numberOf, pairsOf, stringOf, stringsOf, type Value } from '../connection/response.ts'
import type { Wire } from '../connection/wire.ts'
import { afterExpunges } from './retry-after-expunges.ts'

/** Connections on which the server reports vanished messages. */
const withVanished = new WeakSet<Wire>()

/**
 * Enables QRESYNC (RFC 7162) where the server has it. Must be called before a mailbox is opened.
 * @throws ImapLost
 */
export async function enableQresync(wire: Wire): Promise<void> {
  const { capabilities } = wire
  if (withVanished.has(wire) || !capabilities.has('QRESYNC') || !capabilities.has('ENABLE')) return
  try {
    await wire.run(['ENABLE QRESYNC'])
    withVanished.add(wire)
  } catch (error) {
    if (!(error instanceof ImapRefused)) throw error
  }
}

export type FlagChanges = {
  /** The flags of messages by UID. */
  flags: Map<number, string[]>
  /**
   * Ranges of UIDs without a message, such as `3:5`; null where the server did not report them.
   */
  vanished: string[] | null
}

/**
 * Fetches the flags of messages of the open mailbox.
 * @param wire with the mailbox open
 * @param to the last UID
 * @param options `since`: only flags that changed after this modification sequence, and messages
 *   that vanished after it; `connection`: the connection that `wire` is a view of
 * @throws ImapRefused, ImapLost
 */
export async function fetchFlags(
  wire: Wire,
  to: number,
  { since, connection }: { since?: string | undefined; connection?: Wire } = {},
): Promise<FlagChanges> {
  const tellsVanished =
    since !== undefined && connection !== undefined && withVanished.has(connection)
  const found: FlagChanges = { flags: new Map(), vanished: tellsVanished ? [] : null }
  if (to < 1) return found
  const data = (values: Value[]) => {
    if (values[0] === 'VANISHED') return addVanished(values, found)
    const pairs = values[1] === 'FETCH' ? pairsOf(values[2]) : null
    const uid = numberOf(pairs?.get('UID'))
    const flags = pairs?.get('FLAGS')
    if (uid === null || flags === undefined) return false
    found.flags.set(uid, stringsOf(flags))
    return true
  }
  const changed =
    since === undefined ? '' : ` (CHANGEDSINCE ${since}${tellsVanished ? ' VANISHED' : ''})`
  await afterExpunges(wire, async () =>
    wire.run([`UID FETCH 1:${to} (UID FLAGS)${changed}`], { data }),
  )
  return found
}

/**
 * `* VANISHED (EARLIER) 41,43:116`; without EARLIER for messages that vanish now. What is no such set
 * tells nothing.
 */
function addVanished(values: Value[], found: FlagChanges): boolean {
  const set = stringOf(values.at(-1))
  if (set === null || found.vanished === null) return false
  const ranges = set.split(',').map((range) => /^(\d{1,10})(?::(\d{1,10}))?$/.exec(range))
  if (ranges.includes(null)) found.vanished = null
  else
    for (const [, from = '', to = from] of ranges.filter((range) => range !== null))
      found.vanished.push([from, to].toSorted((a, b) => Number(a) - Number(b)).join(':'))
  return true
}
