import { mkdirSync, renameSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { internalDateOf } from '../formats/header.ts'
import { readMessageFile } from '../formats/message-file.ts'
import {
  removeTemporary,
  spoolTo,
  syncFolder,
  type FormatWriter,
  type Spooled,
} from './format-writer.ts'

/** Writes each message to a file `00000001.eml`, with CRLF line ends as it was received. */
export function createEmlWriter(): FormatWriter {
  let count = 0
  return {
    recover: (root) => removeTemporary(root, (path) => /(?:^|\/)\.\d+-\d+\.tmp$/.test(path)),
    create: (place) => void mkdirSync(place, { recursive: true, mode: 0o700 }),
    begin: (place) => spoolTo(join(place, `.${process.pid}-${(count += 1)}.tmp`)),
    async store(place, messages, uidNext) {
      const names = messages.map((_, index) => `${String(uidNext + index).padStart(8, '0')}.eml`)
      for (const [index, { incoming, meta }] of messages.entries()) {
        const { file, end } = incoming as Spooled
        await end()
        const time = meta.moment / 1_000
        utimesSync(file, time, time)
        renameSync(file, join(place, names[index] as string))
      }
      await syncFolder(place)
      return messages.flatMap(({ meta }, index) => {
        const message = readMessageFile(join(place, names[index] as string))
        return message
          ? { ...message, flags: [...meta.flags], date: internalDateOf(meta.moment) }
          : []
      })
    },
    finish: () => undefined,
  }
}
