import { ImapRefused, isThrottling } from '../connection/refusals.ts'
import type { Wire } from '../connection/wire.ts'

/** A server may report further expunged messages each time. */
const MAX_ATTEMPTS = 4

/**
 * Runs a command on a set of UIDs, which a server may reject in whole or in part because another
 * client expunged some of the messages (RFC 2180, 4). A NOOP lets the server report them, after
 * which the command can succeed.
 * @param command must be safe to run twice
 * @returns null when it was rejected for this reason each time; the remaining messages were
 *   processed as far as possible
 * @throws ImapRefused for other reasons, ImapLost
 */
export async function afterExpunges<T>(wire: Wire, command: () => Promise<T>): Promise<T | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await command()
    } catch (error) {
      if (!(error instanceof ImapRefused) || error.refusal.kind !== 'expunged') throw error
      if (attempt === MAX_ATTEMPTS) return null
      await noop(wire)
    }
  }
}

/**
 * Lets the server report changes. A server that rejects it has nothing to report.
 * @throws ImapRefused when the server asks for fewer requests, ImapLost
 */
export async function noop(wire: Wire): Promise<void> {
  try {
    await wire.run(['NOOP'])
  } catch (error) {
    if (!(error instanceof ImapRefused) || isThrottling(error.refusal)) throw error
  }
}
