import { fetchBodies } from '../../net/imap/fetch/fetch-bodies.ts'
import { readWhole } from '../../net/imap/fetch/read-inbox.ts'
import type { Session } from '../../net/imap/connection/imap-session.ts'
import type { Wire } from '../../net/imap/connection/wire.ts'
import { listFolders, type Folder } from '../../net/imap/folders/list-folders.ts'
import { examine, searchUids } from '../../net/imap/folders/mailbox.ts'
import { fieldValues, parseMessage, type Message } from '../../protocols/mail/message.ts'
import { TOKEN_FIELD } from './canary-mail.ts'

/** Where a mail was found. */
export type Sighting = {
  place: 'inbox' | 'category' | 'junk'
  /** The name of the folder, or of the category of Gmail. */
  folder: string
  header: Message
}

/** A mail is small; one that is not is none of ours. */
const MAX_MAIL_BYTES = 512 * 1024
/** Further folders in which a rule may have put it. */
const MAX_OTHER_FOLDERS = 30
const GMAIL_CATEGORIES = ['promotions', 'social', 'updates', 'forums'] as const

/**
 * Looks for a mail by its Message-ID, then by its token: some servers give it another Message-ID. The
 * mailbox is only read, so that it learns nothing.
 * @param everywhere also in folders besides inbox and junk
 * @throws ImapRefused, ImapLost
 */
export async function findMail(
  session: Pick<Session, 'wire' | 'namespace'>,
  mail: { messageId: string; token: string },
  everywhere: boolean,
): Promise<Sighting | null> {
  const { folders } = await listFolders(session, null)
  for (const folder of orderOf(folders, everywhere)) {
    await examine(session.wire, folder.pathAsListed)
    const found = await findInFolder(session.wire, mail)
    if (!found) continue
    if (folder.specialUse === '\\Junk')
      return { place: 'junk', folder: folder.path, header: found.header }
    if (folder.specialUse !== '\\Inbox')
      return { place: 'category', folder: folder.path, header: found.header }
    const category = await findCategory(session.wire, found.uid)
    return category
      ? { place: 'category', folder: category, header: found.header }
      : { place: 'inbox', folder: folder.path, header: found.header }
  }
  return null
}

/** Inbox and junk first. `All Mail` of Gmail has copies of both. */
function orderOf(folders: Folder[], everywhere: boolean): Folder[] {
  const readable = folders.filter(({ isSelectable }) => isSelectable)
  const of = (use: Folder['specialUse']) => readable.filter(({ specialUse }) => specialUse === use)
  const isOther = ({ specialUse }: Folder) =>
    specialUse === null || specialUse === '\\Archive' || specialUse === '\\Trash'
  return [
    ...of('\\Inbox'),
    ...of('\\Junk'),
    ...(everywhere ? readable.filter(isOther).slice(0, MAX_OTHER_FOLDERS) : []),
  ]
}

async function findInFolder(
  wire: Wire,
  { messageId, token }: { messageId: string; token: string },
): Promise<{ uid: number; header: Message } | null> {
  for (const criteria of [`HEADER Message-ID "${messageId}"`, `HEADER ${TOKEN_FIELD} "${token}"`]) {
    const uids = await searchUids(wire, criteria)
    // Servers that do not search in such a field return other messages.
    for (const uid of uids.slice(-3)) {
      const header = await readHeader(wire, uid)
      if (header && fieldValues(header, TOKEN_FIELD)[0]?.trim() === token) return { uid, header }
    }
  }
  return null
}

async function readHeader(wire: Wire, uid: number): Promise<Message | null> {
  for await (const fetched of fetchBodies(wire, [{ uid, size: null }])) {
    const bytes = fetched.state === 'here' ? await readWhole(fetched.body, MAX_MAIL_BYTES) : null
    if (bytes) return { fields: parseMessage(bytes).fields, body: '' }
  }
  return null
}

/** The tab of Gmail’s inbox that shows a message; null for the first one. */
async function findCategory(wire: Wire, uid: number): Promise<string | null> {
  if (!wire.capabilities.has('X-GM-EXT-1')) return null
  for (const category of GMAIL_CATEGORIES) {
    const uids = await searchUids(wire, `UID ${uid} X-GM-RAW "category:${category}"`)
    if (uids.includes(uid)) return category
  }
  return null
}
