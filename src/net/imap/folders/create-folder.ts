import { astring } from '../connection/command-encoding.ts'
import { readStatus } from './mailbox.ts'
import type { ByteString } from './mailbox-name.ts'
import { ImapRefused, isTemporary } from '../connection/refusals.ts'
import type { Wire } from '../connection/wire.ts'

/**
 * Makes sure that a folder is there.
 * @param name encoded; the server makes the parents
 * @throws ImapRefused, ImapLost
 */
export async function createFolder(wire: Wire, name: ByteString): Promise<'created' | 'existed'> {
  try {
    await wire.run(['CREATE ', astring(name)])
    return 'created'
  } catch (error) {
    if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
    if (error.refusal.kind === 'already_exists' || (await exists(wire, name))) return 'existed'
    throw error
  }
}

/** Not every server says ALREADYEXISTS. */
async function exists(wire: Wire, name: ByteString): Promise<boolean> {
  try {
    await readStatus(wire, name)
    return true
  } catch (error) {
    if (error instanceof ImapRefused) return false
    throw error
  }
}

/**
 * Shows a folder in the user's mail programs. A server that has no subscriptions does not matter.
 * @returns whether the server did
 * @throws ImapLost
 */
export async function subscribe(wire: Wire, name: ByteString): Promise<boolean> {
  try {
    await wire.run(['SUBSCRIBE ', astring(name)])
    return true
  } catch (error) {
    if (error instanceof ImapRefused) return false
    throw error
  }
}
