import { extname } from 'node:path'

const EXTRACT = 'It is an archive. Extract it and import its files.'
const COMPRESSED = 'It is compressed. Decompress it first.'
const OUTLOOK = 'Outlook data files are not supported. Export the mail from Outlook to IMAP.'

/** Formats of mail that cannot be read, by their first bytes. */
const BY_CONTENT: readonly [beginning: string, reason: string][] = [
  ['!BDN', OUTLOOK],
  ['\xcf\xad\x12\xfe', 'Outlook Express data files are not supported. Convert it to mbox.'],
  ['*mbx*', 'The MBX format of UW IMAP is not supported. Convert it with mailutil.'],
  ['\x01\x01\x01\x01\n', 'The MMDF format is not supported. Convert it to mbox.'],
  ['BABYL OPTIONS:', 'The Babyl format is not supported. Convert it to mbox.'],
  ['CRYPTED\x03\x07', 'It is encrypted by Dovecot. Decrypt it first.'],
]

/** Archives and compressed files, which are named only where their name says so, too. */
const BY_NAME = new Map([
  ...['.pst', '.ost'].map((name): [string, string] => [name, OUTLOOK]),
  ['.msg', 'Outlook message files are not supported. Save them as .eml.'],
  ['.dbx', 'Outlook Express data files are not supported. Convert it to mbox.'],
  ...['.zip', '.tar', '.tgz', '.7z', '.rar', '.olm'].map((name): [string, string] => [
    name,
    EXTRACT,
  ]),
  ...['.gz', '.bz2', '.xz', '.zst'].map((name): [string, string] => [name, COMPRESSED]),
])

/** The first bytes of gzip, bzip2, xz, Zstandard and LZ4, which Dovecot compresses messages with. */
const COMPRESSIONS = ['\x1f\x8b', 'BZh', '\xfd7zXZ\0', '\x28\xb5\x2f\xfd', '\x04\x22\x4d\x18']

/**
 * Why a file that may have mail cannot be read; null for any other file.
 * @param isMessage whether it is where only messages are
 */
export function unsupportedReason(
  path: string,
  beginning: Buffer,
  isMessage = false,
): string | null {
  const text = beginning.toString('latin1', 0, 16)
  const found = BY_CONTENT.find(([bytes]) => text.startsWith(bytes))
  if (found) return found[1]
  if (isMessage) return COMPRESSIONS.some((bytes) => text.startsWith(bytes)) ? COMPRESSED : null
  return BY_NAME.get(extname(path).toLowerCase()) ?? null
}
