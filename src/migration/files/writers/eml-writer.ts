import { mkdirSync, readdirSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { internalDateOf } from '../formats/header.ts'
import { readMail, readMessageFile } from '../formats/message-file.ts'
import type { FoundMessage } from '../formats/found-message.ts'
import {
  removeTemporary,
  spoolTo,
  syncFolder,
  type FormatWriter,
  type Spooled,
} from './format-writer.ts'

/**
 * Writes each message to a file `00000001.eml` as it was received, or `00000001.raw.eml` where its
 * line ends are not those of mail: a reader would convert them.
 */
export function createEmlWriter(): FormatWriter {
  let count = 0
  /** The last number in each folder. Another run, or a person, may have left higher ones. */
  const numbers = new Map<string, number>()
  const nextNumber = (place: string) => {
    const number = (numbers.get(place) ?? lastNumber(place)) + 1
    numbers.set(place, number)
    return String(number).padStart(8, '0')
  }
  return {
    recover: (root) => removeTemporary(root, (path) => /(?:^|\/)\.\d+-\d+\.tmp$/.test(path)),
    create: (place) => void mkdirSync(place, { recursive: true, mode: 0o700 }),
    begin: (place) => spoolTo(join(place, `.${process.pid}-${(count += 1)}.tmp`)),
    async store(place, messages) {
      const stored: FoundMessage[] = []
      const paths: string[] = []
      try {
        for (const { incoming, meta } of messages) {
          const spooled = incoming as Spooled
          await spooled.end()
          const time = meta.moment / 1_000
          utimesSync(spooled.file, time, time)
          const number = nextNumber(place)
          let path = join(place, `${number}.eml`)
          renameSync(spooled.file, path)
          paths.push(path)
          // As an import reads it, whatever the message begins with.
          let [message] = [...readMail(path, () => undefined, { isExport: true })]
          if (!message || !spooled.equals(message)) {
            path = join(place, `${number}.raw.eml`)
            renameSync(paths.pop() as string, path)
            paths.push(path)
            message = readMessageFile(path, { isRaw: true }) as FoundMessage
          }
          stored.push({ ...message, flags: [...meta.flags], date: internalDateOf(meta.moment) })
        }
      } catch (error) {
        for (const path of paths) rmSync(path, { force: true })
        throw error
      }
      for (const { incoming } of messages) incoming.discard()
      await syncFolder(place)
      return stored
    },
    finish: () => undefined,
  }
}

function lastNumber(place: string): number {
  const numbers = readdirSync(place).map((name) => Number(/^(\d{8,})\./.exec(name)?.[1] ?? 0))
  return numbers.reduce((last, number) => Math.max(last, number), 0)
}
