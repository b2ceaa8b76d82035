import { ImapLost, ImapRefused, isThrottling } from '../../../net/imap/connection/refusals.ts'
import type { ByteString } from '../../../net/imap/folders/mailbox-name.ts'

/**
 * Does work in one folder of the source. Null where the source refuses it, or ends the connection at
 * the folder: the other folders are not affected, and copying reports it.
 * @param attempts safe to repeat, after a lost connection
 * @throws ImapRefused when the server asks for fewer requests, ImapLost at anything else
 */
export async function unlessUnreadable<T>(
  name: ByteString,
  work: () => Promise<T>,
  attempts = 2,
): Promise<T | null> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const isOfFolder =
        error instanceof ImapLost
          ? error.reason !== 'ours' && error.at?.mailbox === name
          : error instanceof ImapRefused && !isThrottling(error.refusal)
      if (!isOfFolder) throw error
      if (error instanceof ImapRefused || tries >= attempts) return null
    }
  }
}
