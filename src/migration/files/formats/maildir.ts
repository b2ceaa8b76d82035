import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isKeyword } from '../../../net/imap/append/flags-and-dates.ts'
import type { FoundMessage } from './found-message.ts'
import { readMessageFile } from './message-file.ts'

const LETTERS: Record<string, string> = {
  D: '\\Draft',
  F: '\\Flagged',
  P: '$Forwarded',
  R: '\\Answered',
  S: '\\Seen',
  T: '\\Deleted',
}

/** Whether a folder is a Maildir. */
export function isMaildir(path: string): boolean {
  return existsSync(join(path, 'cur')) && existsSync(join(path, 'new'))
}

/** Reads the messages of one Maildir, without the folders in it. */
export function* readMaildir(path: string): Generator<FoundMessage> {
  const keywords = keywordsOf(path)
  for (const sub of ['cur', 'new'] as const) {
    for (const name of readdirSync(join(path, sub)).toSorted()) {
      if (name.startsWith('.')) continue
      const [base = name, info = ''] = name.split(/:2,|;2,|!2,/)
      const flags = Array.from(info).flatMap(
        (letter) => LETTERS[letter] ?? keywords.get(letter) ?? [],
      )
      const message = readMessageFile(join(path, sub, name), {
        key: base,
        flags,
        useFileTime: true,
      })
      if (message) yield message
    }
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
