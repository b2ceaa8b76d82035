import { closeSync, fsync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import type { FoundMessage } from '../formats/found-message.ts'
import type { IncomingMessage, IncomingMeta } from '../mail-files.sql.ts'

export type Arrived = { incoming: IncomingMessage; meta: IncomingMeta }

/** Writes messages in one format. A place is a file or a folder. */
export type FormatWriter = {
  /**
   * Removes what a killed run was adding below a folder. It had not confirmed that, so it is copied
   * again.
   */
  recover(root: string): void
  /** @throws the error of the file system, where it cannot have this name */
  create(place: string): void
  begin(place: string): IncomingMessage
  /**
   * Stores messages durably, each as it arrived.
   * @throws where not all could be stored; then nothing is
   */
  store(place: string, messages: readonly Arrived[]): Promise<FoundMessage[]>
  /** Called when their UIDs are durable too. */
  finish(place: string): void
}

/** A message as it arrived, in a temporary file. */
export type Spooled = IncomingMessage & {
  readonly file: string
  readonly bytes: number
  /** Makes it durable and closes it. */
  end: () => Promise<void>
  /** Whether it is the same, byte for byte. */
  equals(message: FoundMessage): boolean
}

const makeDurable = promisify(fsync)

/** Removes the temporary files of a killed run. */
export function removeTemporary(root: string, isTemporary: (path: string) => boolean): void {
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }))
    if (isTemporary(name)) rmSync(join(root, name), { force: true })
}

export function spoolTo(file: string): Spooled {
  const fd = openSync(file, 'w', 0o600)
  let isOpen = true
  let [bytes, crc] = [0, 0]
  const close = () => {
    if (isOpen) closeSync(fd)
    isOpen = false
  }
  return {
    file,
    get bytes() {
      return bytes
    },
    write(chunk) {
      writeSync(fd, chunk)
      bytes += chunk.length
      crc = crc32(chunk, crc)
    },
    async end() {
      await makeDurable(fd)
      close()
    },
    equals({ size, read }) {
      let sum = 0
      for (const part of read()) sum = crc32(part, sum)
      return size === bytes && sum === crc
    },
    discard() {
      close()
      rmSync(file, { force: true })
    },
  }
}

/** Makes new names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const fd = openSync(folder, 'r')
  try {
    await makeDurable(fd)
  } finally {
    closeSync(fd)
  }
}
