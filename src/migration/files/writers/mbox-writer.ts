import {
  closeSync,
  existsSync,
  fdatasync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { readPart } from '../formats/file-part.ts'
import { readMbox } from '../formats/mbox.ts'
import { mboxBody, mboxHead } from '../formats/mbox-write.ts'
import { removeTemporary, spoolTo, type FormatWriter, type Spooled } from './format-writer.ts'

const makeDurable = promisify(fdatasync)

/** Beside an mbox file while messages are added: its size before. */
const sizeFileOf = (place: string) => join(dirname(place), `.${basename(place)}.portreeve-size`)

/** Writes mbox files (mboxrd) with the state of messages in Status, X-Status and X-Keywords. */
export function createMboxWriter(): FormatWriter {
  let count = 0
  return {
    recover,
    create(place) {
      mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
      writeFileSync(place, '', { flag: 'a', mode: 0o600 })
    },
    begin: (place) =>
      spoolTo(join(dirname(place), `.${basename(place)}.${process.pid}-${(count += 1)}.tmp`)),
    async store(place, messages) {
      const { size: before } = statSync(place)
      writeFileSync(sizeFileOf(place), String(before), { flush: true })
      const fd = openSync(place, 'a')
      try {
        for (const { incoming, meta } of messages) {
          const { file } = incoming as Spooled
          writeSync(fd, mboxHead(meta))
          for (const part of mboxBody(readPart(file, 0, Infinity))) writeSync(fd, part)
          incoming.discard()
        }
        await makeDurable(fd)
      } finally {
        closeSync(fd)
      }
      return [...readMbox(place, before)]
    },
    finish: (place) => rmSync(sizeFileOf(place), { force: true }),
  }
}

/** Cuts the messages off mbox files that a killed run was adding. */
function recover(root: string): void {
  removeTemporary(root, (path) => /(?:^|\/)\.[^/]*\.mbox\.\d+-\d+\.tmp$/.test(path))
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    const [, name] = /^\.(.*)\.portreeve-size$/.exec(entry.name) ?? []
    if (name === undefined) continue
    const place = join(entry.parentPath, name)
    const size = Number(readFileSync(path, 'utf8') || NaN)
    if (existsSync(place) && statSync(place).size > size) truncateSync(place, size)
    rmSync(path, { force: true })
  }
}
