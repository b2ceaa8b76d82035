import { hash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
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
import { readPart, readWhole } from '../formats/file-part.ts'
import type { FoundMessage } from '../formats/found-message.ts'
import { readMbox } from '../formats/mbox-read.ts'
import { MBOX_FORMS, mboxMessage, type MboxForm } from '../formats/mbox-write.ts'
import {
  removeTemporary,
  spoolTo,
  type Arrived,
  type FormatWriter,
  type Spooled,
} from './format-writer.ts'

const makeDurable = promisify(fdatasync)

/** Beside an mbox file while messages are added: its name, and its size before. */
const SIZE_FILE = /^\.portreeve-[\w-]+\.size$/
const sizeFileOf = (place: string) =>
  join(dirname(place), `.portreeve-${hash('sha256', basename(place), 'base64url')}.size`)

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
      spoolTo(join(dirname(place), `.portreeve-${process.pid}-${(count += 1)}.tmp`)),
    async store(place, messages) {
      const { size: before } = statSync(place)
      writeFileSync(sizeFileOf(place), JSON.stringify([basename(place), before]), { flush: true })
      const fd = openSync(place, 'a')
      try {
        writeSync(fd, gapAfter(place, before))
        const stored = write(fd, place, messages)
        await makeDurable(fd)
        for (const { incoming } of messages) incoming.discard()
        return stored
      } catch (error) {
        ftruncateSync(fd, before)
        throw error
      } finally {
        closeSync(fd)
      }
    },
    finish: (place) => rmSync(sizeFileOf(place), { force: true }),
  }
}

/** Writes messages, each in the first form in which reading gives the same bytes. */
function write(fd: number, place: string, messages: readonly Arrived[]): FoundMessage[] {
  const { size: before } = fstatSync(fd)
  let forms = messages.map((): number => 0)
  for (;;) {
    for (const [index, { incoming, meta }] of messages.entries()) {
      const { file } = incoming as Spooled
      const form = MBOX_FORMS[forms[index] as number] as MboxForm
      for (const part of mboxMessage(meta, form, () => readPart(file, 0, Infinity)))
        writeSync(fd, part)
    }
    const stored = [...readMbox(place, before)]
    const isSame = messages.map(({ incoming }, index) => {
      const message = stored.length === messages.length ? stored[index] : undefined
      return message !== undefined && (incoming as Spooled).equals(message)
    })
    if (isSame.every(Boolean) && stored.length === messages.length) return stored
    forms = forms.map((form, index) => (isSame[index] ? form : form + 1))
    if (forms.some((form) => form === MBOX_FORMS.length))
      throw new Error('An mbox file cannot have this message.')
    ftruncateSync(fd, before)
  }
}

/** What a file lacks to end with a blank line, as one that another program wrote may. */
function gapAfter(place: string, size: number): string {
  const end = readWhole(place, Math.max(0, size - 4), size).toString('latin1')
  if (size === 0 || /\n\r?\n$/.test(end)) return ''
  return end.endsWith('\n') ? '\n' : '\n\n'
}

/** Cuts the messages off mbox files that a killed run was adding. */
function recover(root: string): void {
  removeTemporary(root, (path) => /(?:^|\/)\.portreeve-\d+-\d+\.tmp$/.test(path))
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    if (!SIZE_FILE.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    const [name, size] = sizeIn(path)
    const place = join(entry.parentPath, name)
    if (existsSync(place) && statSync(place).size > size) truncateSync(place, size)
    rmSync(path, { force: true })
  }
}

function sizeIn(path: string): [name: string, size: number] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as [string, number]
  } catch {
    // It was killed while it wrote this file, and had added nothing yet.
    return ['', Infinity]
  }
}
