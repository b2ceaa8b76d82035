import { listFolders, type Folder } from '../net/imap/folders.ts'
import { examine } from '../net/imap/mailbox.ts'
import { astring } from '../net/imap/encode.ts'
import { ImapRefused } from '../net/imap/refusals.ts'
import { numberOf, pairsOf } from '../net/imap/response.ts'
import { signIn, type SignIn } from '../net/imap/session.ts'
import type { Wire } from '../net/imap/wire.ts'

export type SurveyedFolder = Pick<Folder, 'path' | 'specialUse'> & { messages: number; bytes: number }

/**
 * The folders of an account that hold messages, with their sizes in bytes.
 * @throws Fault, ImapRefused, ImapLost
 */
export async function survey(account: SignIn, signal: AbortSignal): Promise<SurveyedFolder[]> {
  const session = await signIn(account, signal)
  try {
    const { folders } = await listFolders(session)
    const surveyed: SurveyedFolder[] = []
    for (const { path, specialUse, messages, pathAsListed } of folders.filter(({ isSelectable }) => isSelectable)) {
      const bytes = messages === 0 ? 0 : await bytesOf(session.wire, pathAsListed)
      surveyed.push({ path, specialUse, messages: messages ?? 0, bytes })
    }
    return surveyed
  } finally {
    await session.wire.logout()
  }
}

/** In one question where the server can (RFC 8438), else as the sum of all messages. */
async function bytesOf(wire: Wire, name: string): Promise<number> {
  let bytes = 0
  try {
    if (wire.capabilities.has('STATUS=SIZE')) {
      await wire.run(['STATUS ', astring(name), ' (SIZE)'], {
        data(values) {
          if (values[0] !== 'STATUS') return false
          bytes = numberOf(pairsOf(values[2]).get('SIZE')) ?? 0
          return true
        },
      })
      return bytes
    }
    if ((await examine(wire, name)).exists === 0) return 0
    await wire.run(['UID FETCH 1:* (RFC822.SIZE)'], {
      data(values) {
        if (values[1] !== 'FETCH') return false
        bytes += numberOf(pairsOf(values[2]).get('RFC822.SIZE')) ?? 0
        return true
      },
    })
    return bytes
  } catch (error) {
    // Sizes are for the eye only.
    if (error instanceof ImapRefused) return bytes
    throw error
  }
}
