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
  ['2 M1e C', 'The dbox format of Dovecot is not supported. Convert it with “doveadm sync”.'],
  ['CRYPTED\x03\x07', 'It is encrypted by Dovecot. Decrypt it first.'],
  ['\xff\xfe', 'It is in UTF-16, which no mail is. Convert it to UTF-8.'],
  ['\xfe\xff', 'It is in UTF-16, which no mail is. Convert it to UTF-8.'],
]

/** Formats that only a name tells from files without mail. */
const BY_NAME = new Map(
  (
    [
      [OUTLOOK, '.pst .ost .olk14message .olk15message'],
      [
        'The format of its mail program is not supported. Export it to mbox or .eml.',
        '.tbb .bmf .nsf .edb .dbx',
      ],
      [EXTRACT, '.zip .tar .tgz .7z .rar .olm'],
      [COMPRESSED, '.gz .bz2 .xz .zst'],
    ] as const
  ).flatMap(([reason, names]) => names.split(' ').map((name): [string, string] => [name, reason])),
)

/** The first bytes of an Outlook message file. Zimbra gives files with messages the same ending. */
const OUTLOOK_MESSAGE = '\xd0\xcf\x11\xe0'

/** Compressions of Dovecot that are not read: bzip2, xz, LZ4, and Dovecot’s own form of LZ4. */
const COMPRESSIONS: readonly [beginning: string, name: string][] = [
  ['BZh', 'bzip2'],
  ['\xfd7zXZ\0', 'xz'],
  ['\x04\x22\x4d\x18', 'LZ4'],
  ['Dovecot-LZ4', 'LZ4'],
]

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
  const extension = extname(path).toLowerCase()
  if (isMessage || extension === '.msg') {
    const compression = COMPRESSIONS.find(([bytes]) => text.startsWith(bytes))
    if (compression) return `It is compressed with ${compression[1]}. Decompress it first.`
    return text.startsWith(OUTLOOK_MESSAGE)
      ? 'Outlook message files are not supported. Save them as .eml.'
      : null
  }
  return BY_NAME.get(extension) ?? null
}
