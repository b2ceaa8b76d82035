import { closeSync, fsync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { FoundMessage } from '../formats/found-message.ts'
import type { IncomingMessage, IncomingMeta } from '../store.ts'

export type Arrived = { incoming: IncomingMessage; meta: IncomingMeta }

/** Writes messages in one format. A place is a file or a folder. */
export type FormatWriter = {
  /**
   * Removes what a killed run was adding below a folder. It had not confirmed that, so it is copied
   * again.
   */
  recover(root: string): void
  create(place: string): void
  begin(place: string): IncomingMessage
  /**
   * Stores messages durably.
   * @param uidNext the UID of the first one
   */
  store(place: string, messages: readonly Arrived[], uidNext: number): Promise<FoundMessage[]>
  /** Called when their UIDs are durable too. */
  finish(place: string): void
}

/** A message in a temporary file. */
export type Spooled = IncomingMessage & {
  readonly file: string
  /** Makes it durable and closes it. */
  end: () => Promise<void>
}

const makeDurable = promisify(fsync)

/** Removes the temporary files of a killed run. */
export function removeTemporary(root: string, isTemporary: (path: string) => boolean): void {
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }))
    if (isTemporary(name)) rmSync(join(root, name), { force: true })
}

/** @param convert changes each part before it is written */
export function spoolTo(file: string, convert = (chunk: Buffer): Buffer => chunk): Spooled {
  const fd = openSync(file, 'w', 0o600)
  let isOpen = true
  const close = () => {
    if (isOpen) closeSync(fd)
    isOpen = false
  }
  return {
    file,
    write: (chunk) => void writeSync(fd, convert(chunk)),
    async end() {
      await makeDurable(fd)
      close()
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
