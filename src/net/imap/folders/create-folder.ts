import { astring } from '../connection/command-encoding.ts'
import { readStatus } from './mailbox.ts'
import type { ByteString } from './mailbox-name.ts'
import { ImapRefused, isTemporary } from '../connection/refusals.ts'
import type { Wire } from '../connection/wire.ts'

/**
 * Creates a folder unless it exists.
 * @param name encoded; the server creates its parents
 * @param about the folder that it stands for, where it has another name
 * @throws ImapRefused, ImapLost
 */
export async function createFolder(
  wire: Wire,
  name: ByteString,
  about = name,
): Promise<'created' | 'existed'> {
  try {
    await wire.run(['CREATE ', astring(name)], { about })
    return 'created'
  } catch (error) {
    if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
    if (error.refusal.kind === 'already_exists' || (await exists(wire, name))) return 'existed'
    throw error
  }
}

/** Not every server answers ALREADYEXISTS. */
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
 * Subscribes to a folder, so that mail programs show it. A server without subscriptions is fine.
 * @returns whether the server did
 * @throws ImapLost
 */
export async function subscribe(wire: Wire, name: ByteString): Promise<boolean> {
  try {
    await wire.run(['SUBSCRIBE ', astring(name)], { about: name })
    return true
  } catch (error) {
    if (error instanceof ImapRefused) return false
    throw error
  }
}
