import { existsSync, mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isUserFlag } from '../../../net/imap/append/flags-and-dates.ts'
import { internalDateOf } from '../formats/header.ts'
import { readMessageFile } from '../formats/message-file.ts'
import {
  removeTemporary,
  spoolTo,
  syncFolder,
  type FormatWriter,
  type Spooled,
} from './format-writer.ts'

const LETTERS: [flag: string, letter: string][] = [
  ['\\Draft', 'D'],
  ['\\Flagged', 'F'],
  ['$Forwarded', 'P'],
  ['\\Answered', 'R'],
  ['\\Seen', 'S'],
  ['\\Deleted', 'T'],
]

const MAX_KEYWORDS = 26

/** Writes Maildirs as Dovecot does (Maildir++), with LF line ends. */
export function createMaildirWriter(): FormatWriter {
  let count = 0
  return {
    recover: (root) =>
      removeTemporary(root, (path) => /(?:^|\/)tmp\/\d+\.P\d+Q\d+\.portreeve$/.test(path)),
    create(place) {
      for (const sub of ['cur', 'new', 'tmp'])
        mkdirSync(join(place, sub), { recursive: true, mode: 0o700 })
    },
    begin(place) {
      const name = `${Math.floor(Date.now() / 1_000)}.P${process.pid}Q${(count += 1)}.portreeve`
      return spoolTo(join(place, 'tmp', name), createLfConverter())
    },
    async store(place, messages) {
      const keywords = createKeywords(place)
      const stored: { path: string; base: string; index: number }[] = []
      for (const [index, { incoming, meta }] of messages.entries()) {
        const { file, end } = incoming as Spooled
        await end()
        const time = meta.moment / 1_000
        utimesSync(file, time, time)
        const letters = LETTERS.flatMap(([flag, letter]) =>
          meta.flags.includes(flag) ? letter : [],
        )
        const own = meta.flags.filter((flag) => isUserFlag(flag) && flag !== '$Forwarded')
        const base = file.slice(file.lastIndexOf('/') + 1)
        const path = join(place, 'cur', `${base}:2,${letters.join('')}${keywords.lettersOf(own)}`)
        renameSync(file, path)
        stored.push({ path, base, index })
      }
      await syncFolder(join(place, 'cur'))
      return stored.flatMap(({ path, base, index }) => {
        const flags = [...(messages[index]?.meta.flags ?? [])]
        const message = readMessageFile(path, { key: base, flags })
        const date = internalDateOf(messages[index]?.meta.moment ?? 0)
        return message ? { ...message, date } : []
      })
    },
    finish: () => undefined,
  }
}

/** Removes the CR of each CRLF, also where it is divided between two parts. */
function createLfConverter(): (chunk: Buffer) => Buffer {
  let heldCr = false
  return (chunk) => {
    const out = Buffer.allocUnsafe(chunk.length + 1)
    let length = 0
    for (const byte of chunk) {
      if (heldCr && byte !== 0x0a) out[length++] = 0x0d
      heldCr = byte === 0x0d
      if (!heldCr) out[length++] = byte
    }
    return out.subarray(0, length)
  }
}

/** Dovecot’s letters a to z of keywords, which `dovecot-keywords` names. */
function createKeywords(place: string): { lettersOf(keywords: readonly string[]): string } {
  const file = join(place, 'dovecot-keywords')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const known = lines.map((line) => line.replace(/^\d+ /, '')).filter(Boolean)
  return {
    lettersOf(keywords) {
      const added = keywords.filter((keyword) => !known.includes(keyword))
      known.push(...added.slice(0, Math.max(0, MAX_KEYWORDS - known.length)))
      if (added.length > 0)
        writeFileSync(file, known.map((keyword, index) => `${index} ${keyword}\n`).join(''))
      return keywords
        .map((keyword) => known.indexOf(keyword))
        .filter((index) => index !== -1)
        .map((index) => String.fromCharCode(97 + index))
        .toSorted()
        .join('')
    },
  }
}
