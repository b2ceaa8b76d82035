import { useByName, type SpecialUse } from '../../../net/imap/folders/special-use.ts'
import { roleOfLabel, type LabelRole } from './gmail-label-names.ts'

/**
 * The folders and flags that labels of Gmail stand for. `isRead`: no label says that it is unread,
 * which counts only in files where some label tells (`tellsRead`). `ownLabels`: those of the user.
 */
export type LabelledPlace = {
  folders: string[]
  flags: string[]
  isRead: boolean
  tellsRead: boolean
  ownLabels: string[]
}

/** The first that applies is the folder of a message. */
const FOLDERS: readonly [role: LabelRole, folder: string][] = [
  ['trash', 'Trash'],
  ['junk', 'Junk'],
  ['drafts', 'Drafts'],
  ['sent', 'Sent'],
  ['inbox', 'INBOX'],
]

const ROLE_OF_USE: Partial<Record<SpecialUse, LabelRole>> = {
  '\\Sent': 'sent',
  '\\Drafts': 'drafts',
  '\\Trash': 'trash',
  '\\Junk': 'junk',
  '\\Archive': 'other',
}

/**
 * Finds the folders of a message by its labels: each message once, in the first of trash, junk,
 * drafts, sent mail, inbox, its first own label and the archive; or once for each label.
 */
export function readLabels(labels: string, isEveryLabel: boolean): LabelledPlace {
  const all = splitLabels(decodeWords(labels)).map((label) => {
    const use = useByName(label)
    return { label, role: roleOfLabel(label) ?? (use && ROLE_OF_USE[use]) ?? null }
  })
  const has = (wanted: LabelRole) => all.some(({ role }) => role === wanted)
  const ownLabels = all.flatMap(({ label, role }) => (role === null ? label : []))
  const ordered = [
    ...FOLDERS.flatMap(([role, folder]) => (has(role) ? folder : [])),
    ...new Set(ownLabels),
  ]
  const folders = ordered.length === 0 ? ['Archive'] : isEveryLabel ? ordered : ordered.slice(0, 1)
  return {
    folders,
    flags: [...(has('starred') ? ['\\Flagged'] : []), ...(has('drafts') ? ['\\Draft'] : [])],
    isRead: !has('unread'),
    tellsRead: has('unread') || has('opened'),
    ownLabels,
  }
}

/** Labels are separated by commas; one with a comma is in quotation marks. */
function splitLabels(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/g)]
    .map(([whole, quoted]) => (quoted ?? whole).trim())
    .filter((label) => label !== '')
}

/**
 * Decodes RFC 2047 encoded words; without one, the bytes are UTF-8. A character can be divided
 * between two words.
 */
function decodeWords(latin1: string): string {
  if (!latin1.includes('=?')) return Buffer.from(latin1, 'latin1').toString('utf8')
  return latin1.replace(/=\?utf-8\?[qb]\?[^?]*\?=(?:\s*=\?utf-8\?[qb]\?[^?]*\?=)*/gi, (words) => {
    const parts = [...words.matchAll(/=\?utf-8\?([qb])\?([^?]*)\?=/gi)]
    return Buffer.concat(
      parts.map(([, encoding = '', text = '']) =>
        /b/i.test(encoding) ? Buffer.from(text, 'base64') : decodeQ(text),
      ),
    ).toString('utf8')
  })
}

function decodeQ(text: string): Buffer {
  const bytes = text
    .replaceAll('_', ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1')
}
