import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isKeyword } from '../../../net/imap/append/flags-and-dates.ts'
import { byName, type FoundMessage, type Leave } from './found-message.ts'
import { readMail } from './message-file.ts'

const LETTERS: Record<string, string> = {
  D: '\\Draft',
  F: '\\Flagged',
  P: '$Forwarded',
  R: '\\Answered',
  S: '\\Seen',
  T: '\\Deleted',
}

/**
 * Whether a folder is a Maildir. Thunderbird’s have no `new`, and copies can lack empty folders: then
 * only a name with flags tells it from a folder of mail called `cur`, or a Maildir that it is in.
 */
export function isMaildir(path: string, isInMaildir = false): boolean {
  const [cur, fresh, tmp] = ['cur', 'new', 'tmp'].map((name) => isFolder(join(path, name)))
  if (isInMaildir || (cur && fresh)) return Boolean(cur || fresh)
  if (tmp && (cur || fresh)) return true
  return Boolean(cur) && readdirSync(join(path, 'cur')).some((name) => INFO.test(name))
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** In front of the flags in a name. Windows cannot have a colon in names. */
const INFO = /[:;!]2,/

/**
 * Reads the messages of one Maildir, without the folders in it.
 * @param leave called for each file that is left out
 */
export function* readMaildir(path: string, leave: Leave): Generator<FoundMessage> {
  const keywords = keywordsOf(path)
  const isThunderbird = !isFolder(join(path, 'new'))
  for (const sub of ['cur', 'new']) {
    for (const name of namesIn(join(path, sub))) {
      const [base = name, info = ''] = name.split(INFO)
      const flags = Array.from(info).flatMap(
        (letter) => LETTERS[letter] ?? keywords.get(letter) ?? [],
      )
      // The sizes of the file and of the message are equal: its line ends are those of the message.
      const [, size, sizeAsSent] = /,S=(\d+),W=(\d+)/.exec(base) ?? []
      yield* readMail(join(path, sub, name), leave, {
        ...(isThunderbird && !INFO.test(name) ? { useState: true } : { flags }),
        useFileTime: !isThunderbird,
        isRaw: size !== undefined && size === sizeAsSent,
      })
    }
  }
}

/**
 * The messages in a folder, in the order of their numbers. Whatever else is in it, or why it cannot be
 * read, the search for folders has said.
 */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.') && !entry.isDirectory())
      .toSorted(byName)
      .map(({ name }) => name)
  } catch {
    return []
  }
}

/** Dovecot’s names of the letters a to z: lines such as `0 $Label1`. */
function keywordsOf(path: string): Map<string, string> {
  const file = join(path, 'dovecot-keywords')
  if (!existsSync(file)) return new Map()
  return new Map(
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line): [string, string][] => {
        const [, number, keyword = ''] = /^(\d+) (\S+)$/.exec(line) ?? []
        if (number === undefined || !isKeyword(keyword)) return []
        return [[String.fromCharCode(97 + Number(number)), keyword]]
      }),
  )
}
