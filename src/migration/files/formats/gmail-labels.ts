import { useByName, type SpecialUse } from '../../../net/imap/folders/special-use.ts'

/** The folders and flags that labels of Gmail stand for. */
export type LabelledPlace = { folders: string[]; flags: string[] }

/** Labels of the language in which Takeout was used. */
const INBOX = names(
  'Inbox, Posteingang, Boîte de réception, Recibidos, Bandeja de entrada, Caixa de entrada',
  'Posta in arrivo, Postvak IN, Inkorgen, Indbakke, Innboks, Odebrane, Входящие, 受信トレイ, 收件箱',
)
const UNREAD = names(
  'Unread, Ungelesen, Non lus, Non lu, No leídos, Não lidas, Não lido, Da leggere, Non letti',
  'Ongelezen, Olästa, Ulæst, Ulest, Nieprzeczytane, Непрочитанные, 未読, 未读邮件',
)
const STARRED = names(
  'Starred, Markiert, Suivis, Messages suivis, Destacados, Com estrela, Speciali, Met ster',
  'Stjärnmärkt, Stjernemarkeret, Stjernemerket, Oznaczone gwiazdką, Помеченные, スター付き, 已加星标',
)
const IGNORED = names(
  'Opened, Geöffnet, Ouvert, Ouverts, Abierto, Abiertos, Aberto, Aperti, Geopend, Important',
  'Wichtig, Importante, Importanti, Importants, Belangrijk, Archived, Archiviert, Archivés',
  'Archivados, Arquivados, Archiviati, Gearchiveerd, Chat, Chats',
)

const FOLDER_OF_USE: Partial<Record<SpecialUse, string>> = {
  '\\Sent': 'Sent',
  '\\Drafts': 'Drafts',
  '\\Trash': 'Trash',
  '\\Junk': 'Junk',
}

/**
 * Finds the folders of a message by its labels: each message once, in the first of trash, junk,
 * drafts, sent mail, inbox, its first own label and the archive; or once for each label.
 */
export function placeOf(labels: string, isEveryLabel: boolean): LabelledPlace {
  const all = splitLabels(decodeWords(labels))
  const keys = new Set(all.map(keyOf))
  const has = (known: ReadonlySet<string>) => [...keys].some((key) => known.has(key))
  const uses = new Map<SpecialUse, string>()
  const own: string[] = []
  for (const label of all) {
    const use = useByName(label)
    const folder = use && FOLDER_OF_USE[use]
    if (use && folder) uses.set(use, folder)
    else if (!isSystem(label)) own.push(label)
  }
  const ordered = [
    ...(['\\Trash', '\\Junk', '\\Drafts', '\\Sent'] as const).flatMap((use) => uses.get(use) ?? []),
    ...(has(INBOX) ? ['INBOX'] : []),
    ...own,
  ]
  const folders = ordered.length === 0 ? ['Archive'] : isEveryLabel ? ordered : ordered.slice(0, 1)
  const flags = [
    ...(has(UNREAD) ? [] : ['\\Seen']),
    ...(has(STARRED) ? ['\\Flagged'] : []),
    ...(uses.has('\\Drafts') ? ['\\Draft'] : []),
  ]
  return { folders, flags }
}

/** Categories are tabs of the inbox, in English and German exports. */
function isSystem(label: string): boolean {
  const key = keyOf(label)
  const isKnown = [INBOX, UNREAD, STARRED, IGNORED].some((known) => known.has(key))
  return (
    isKnown ||
    useByName(label) === '\\Archive' ||
    /^(?:category|kategorie|catégorie|categoría|categoria)[ :]/i.test(label)
  )
}

/** Labels are separated by commas; one with a comma is in quotation marks. */
function splitLabels(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/g)]
    .map(([whole, quoted]) => (quoted ?? whole).trim())
    .filter((label) => label !== '')
}

/** Decodes RFC 2047 encoded words; without one, the bytes are UTF-8. */
function decodeWords(latin1: string): string {
  if (!latin1.includes('=?')) return Buffer.from(latin1, 'latin1').toString('utf8')
  return latin1
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/(?:=\?utf-8\?q\?[^?]*\?=)+/gi, (words) => {
      const text = words.replace(/=\?utf-8\?q\?|\?=/gi, '').replaceAll('_', ' ')
      const bytes = text.replace(/=([0-9a-f]{2})/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
      return Buffer.from(bytes, 'latin1').toString('utf8')
    })
    .replace(/=\?utf-8\?b\?([^?]*)\?=/gi, (_, base64: string) =>
      Buffer.from(base64, 'base64').toString('utf8'),
    )
}

function names(...lines: string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(', ')).map(keyOf))
}

function keyOf(label: string): string {
  return label.normalize('NFC').trim().toLowerCase()
}
