import { decodeMailbox } from '../../../net/imap/folders/mailbox-name.ts'

/**
 * Names of folders in exports. A few characters are encoded as `%2E`, because a file system or a
 * reader takes them for something else: a dot that hides a file, spaces and dots at the end, names of
 * parts of a Maildir, and endings that mail programs use.
 */
const ENCODED =
  /^\.|^[cnt](?=(?:ur|ew|mp)$)|^m(?=box$)|[. ]$|\p{Cc}|\.(?=(?:sbd|mbox|mbx|mbs|eml|emlx|tmp)$)|%(?=[0-9A-F]{2})/giu

/** The name of the file or folder of a level. */
export function encodeLevel(level: string): string {
  return level.replace(
    ENCODED,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}

/** The level of a name: names that `encodeLevel` does not write, such as `50%25`, stay as they are. */
export function decodeLevel(name: string): string {
  const level = name.replace(/%([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return encodeLevel(level) === name ? level : name
}

/** The level of a name in a Maildir, which is encoded as in IMAP. */
export function decodeMailboxName(name: string): string {
  return decodeMailbox(Buffer.from(name).toString('latin1'))
}
