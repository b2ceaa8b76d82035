import { astring, formatUidSet, parseUidList } from '../connection/command-encoding.ts'
import { stringOf, type ResponseCode } from '../connection/response.ts'
import type { Wire } from '../connection/wire.ts'
import { afterExpunges } from '../fetch/retry-after-expunges.ts'
import { searchUids } from './mailbox.ts'
import type { ByteString } from './mailbox-name.ts'

/** Whether single messages can be moved or deleted without touching others. */
export function canMoveMessages({ capabilities }: Wire): boolean {
  return capabilities.has('UIDPLUS')
}

/**
 * Moves messages of the open mailbox to another one: with MOVE (RFC 6851), or by copying.
 * @param uids ascending, up to 500
 * @returns new UIDs by old ones. A message that was not there has none. Copied messages are left
 *   for `expungeMessages`
 * @throws ImapRefused, ImapLost
 */
export async function moveMessages(
  wire: Wire,
  uids: readonly number[],
  to: ByteString,
): Promise<Map<number, number>> {
  const moved = new Map<number, number>()
  const code = ({ name, args }: ResponseCode) => {
    if (name !== 'COPYUID') return
    const [from, into] = [args[1], args[2]].map((set) =>
      parseUidList(stringOf(set) ?? '', uids.length),
    )
    if (from && into && from.length === into.length)
      from.forEach((uid, index) => moved.set(uid, into[index] as number))
  }
  const verb = wire.capabilities.has('MOVE') ? 'MOVE' : 'COPY'
  const result = await wire.run([`UID ${verb} ${formatUidSet(uids)} `, astring(to)], { code })
  if (result.code) code(result.code)
  return moved
}

/**
 * Deletes messages of the open mailbox, and no others (UID EXPUNGE, RFC 4315).
 * @param uids ascending, up to 500
 * @returns those that were there
 * @throws ImapRefused, ImapLost
 */
export async function expungeMessages(wire: Wire, uids: readonly number[]): Promise<number[]> {
  const set = formatUidSet(uids)
  const there = await searchUids(wire, `UID ${set}`)
  if (there.length === 0) return there
  await afterExpunges(wire, async () => wire.run([`UID STORE ${set} +FLAGS.SILENT (\\Deleted)`]))
  await wire.run([`UID EXPUNGE ${set}`])
  return there
}
