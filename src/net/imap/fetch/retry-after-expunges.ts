import { ImapRefused } from '../connection/refusals.ts'
import type { Wire } from '../connection/wire.ts'

/** A server may tell of further messages each time. */
const MAX_ATTEMPTS = 4

/**
 * Runs a command over a set of UIDs that a server may refuse, in whole or in part, because another client has expunged
 * some of the messages (RFC 2180, 4). NOOP lets the server tell us of it, and then it has no reason any more.
 * @param command must be one that may be run twice
 * @returns null where it was refused for this each time: what was left of the set has been dealt with as far as it can be
 * @throws ImapRefused for other reasons, ImapLost
 */
export async function afterExpunges<T>(wire: Wire, command: () => Promise<T>): Promise<T | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await command()
    } catch (error) {
      if (!(error instanceof ImapRefused) || error.refusal.kind !== 'expunged') throw error
      if (attempt === MAX_ATTEMPTS) return null
      await wire.run(['NOOP'])
    }
  }
}
