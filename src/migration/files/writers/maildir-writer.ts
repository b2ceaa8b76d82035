import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { isUserFlag } from '../../../net/imap/append/flags-and-dates.ts'
import { readPart } from '../formats/file-part.ts'
import type { FoundMessage } from '../formats/found-message.ts'
import { internalDateOf } from '../formats/header.ts'
import { withLf } from '../formats/mbox-write.ts'
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

/** Dovecot’s letters, a to z. */
const MAX_KEYWORDS = 26

/**
 * Writes Maildirs as Dovecot does (Maildir++), with LF line ends, and with the sizes in the file
 * (`S=`) and with CRLF line ends (`W=`) in each name. Equal sizes say that a message has the line ends
 * of its file, which is how messages with bare LF are stored.
 * @param onDropped called with a keyword for which a message has no letter
 */
export function createMaildirWriter(
  onDropped: (place: string, keyword: string) => void,
): FormatWriter {
  let count = 0
  return {
    recover: (root) =>
      removeTemporary(root, (path) => /(?:^|\/)tmp\/\d+\.P\d+Q\d+\.portreeve(?:\.lf)?$/.test(path)),
    create(place) {
      for (const sub of ['cur', 'new', 'tmp'])
        mkdirSync(join(place, sub), { recursive: true, mode: 0o700 })
    },
    begin(place) {
      const name = `${Math.floor(Date.now() / 1_000)}.P${process.pid}Q${(count += 1)}.portreeve`
      return spoolTo(join(place, 'tmp', name))
    },
    async store(place, messages) {
      const keywords = createKeywords(place, (keyword) => onDropped(place, keyword))
      const stored: FoundMessage[] = []
      const paths: string[] = []
      try {
        for (const { incoming, meta } of messages) {
          const { file, bytes } = await withLfOf(incoming as Spooled)
          const time = meta.moment / 1_000
          utimesSync(file, time, time)
          const letters = LETTERS.flatMap(([flag, letter]) =>
            meta.flags.includes(flag) ? letter : [],
          )
          const own = meta.flags.filter((flag) => isUserFlag(flag) && flag !== '$Forwarded')
          const size = (incoming as Spooled).bytes
          const base = `${basename((incoming as Spooled).file)},S=${bytes},W=${size}`
          const path = join(place, 'cur', `${base}:2,${letters.join('')}${keywords.lettersOf(own)}`)
          renameSync(file, path)
          paths.push(path)
          const flags = [...meta.flags]
          const message = readMessageFile(path, { flags, isRaw: bytes === size }) as FoundMessage
          stored.push({ ...message, date: internalDateOf(meta.moment) })
        }
      } catch (error) {
        for (const path of paths) rmSync(path, { force: true })
        throw error
      }
      for (const { incoming } of messages) incoming.discard()
      await syncFolder(join(place, 'cur'))
      return stored
    },
    finish: () => undefined,
  }
}

/** Writes a message with LF line ends, durably. One that reading would change stays as it is. */
async function withLfOf(spooled: Spooled): Promise<{ file: string; bytes: number }> {
  const converted = spoolTo(`${spooled.file}.lf`)
  for (const part of withLf(readPart(spooled.file, 0, Infinity), false)) converted.write(part)
  const message = readMessageFile(converted.file)
  const isSame = message !== null && spooled.equals(message)
  const { file, bytes, end } = isSame ? converted : spooled
  await end()
  if (!isSame) converted.discard()
  return { file, bytes }
}

/** Dovecot’s letters a to z of keywords, which `dovecot-keywords` names. */
function createKeywords(
  place: string,
  onDropped: (keyword: string) => void,
): { lettersOf(keywords: readonly string[]): string } {
  const file = join(place, 'dovecot-keywords')
  const known = new Map<number, string>()
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    const [, index, keyword] = /^(\d+) (\S+)$/.exec(line) ?? []
    if (keyword !== undefined) known.set(Number(index), keyword)
  }
  const indexOf = (keyword: string) =>
    [...known].find(([, other]) => other.toLowerCase() === keyword.toLowerCase())?.[0]
  function add(keyword: string): number | undefined {
    const free = Array.from({ length: MAX_KEYWORDS }, (_, index) => index).find(
      (index) => !known.has(index),
    )
    if (free === undefined) {
      onDropped(keyword)
      return undefined
    }
    known.set(free, keyword)
    writeFileSync(file, [...known].map(([index, name]) => `${index} ${name}\n`).join(''))
    return free
  }
  return {
    lettersOf(keywords) {
      const indexes = keywords.flatMap((keyword) => indexOf(keyword) ?? add(keyword) ?? [])
      const letters = indexes.map((index) => String.fromCharCode(97 + index))
      return [...new Set(letters)].toSorted().join('')
    },
  }
}
