import { closeSync, openSync } from 'node:fs'

/** A file of many messages, which stays open between them. */
export type SharedFile = {
  /** @param work reads from the descriptor, which is valid until it returns */
  read(work: (fd: number) => void): void
}

/** Files that stay open: each needs a descriptor, and there can be thousands of files. */
const MAX_OPEN = 16

/** The open files, the one that was used last at the end. */
const open = new Map<SharedFile, number>()

/** Opens a file when it is read for the first time, and again after many others were. */
export function shareFile(path: string): SharedFile {
  const file: SharedFile = {
    read(work) {
      const fd = open.get(file) ?? openSync(path, 'r')
      open.delete(file)
      open.set(file, fd)
      closeOldest()
      work(fd)
    },
  }
  return file
}

function closeOldest(): void {
  const [oldest] = open
  if (open.size <= MAX_OPEN || !oldest) return
  open.delete(oldest[0])
  closeSync(oldest[1])
}
