import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fdatasync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { giveToFolderOwner, makeFolder } from '../../store/file.ts'

const makeDurable = promisify(fdatasync)

/**
 * The UIDs of the messages of one folder, by a key of each message. They stay the same over runs,
 * also when a file was compacted or messages were added, so that an interrupted run can continue.
 */
export type UidIndex = {
  readonly uidValidity: number
  readonly uidNext: number
  /** The UID of a key, or a new one. Equal keys have one UID for each occurrence in this run. */
  assign(key: string): number
  /** Makes all assigned UIDs durable. */
  save(): Promise<void>
  close(): void
}

/** Opens the index of a folder of a path in the folder for states. */
export function openUidIndex(state: string, root: string, folder: string): UidIndex {
  const name = createHash('sha256')
    .update(JSON.stringify([root, folder]))
    .digest('hex')
  const path = join(state, 'files', `${name.slice(0, 32)}.uids`)
  makeFolder(dirname(path), 0o700)
  const { uidValidity, uids, last, bytes } = load(path)
  const isNew = bytes === 0
  // The last line of a killed process may be incomplete.
  if (!isNew) truncateSync(path, bytes)
  const fd = openSync(path, 'a', 0o600)
  giveToFolderOwner(path)
  const occurrences = new Map<string, number>()
  let uidNext = last + 1
  let unsaved = isNew ? [`${uidValidity}`] : []

  return {
    uidValidity,
    get uidNext() {
      return uidNext
    },
    assign(key) {
      const times = (occurrences.get(key) ?? 0) + 1
      occurrences.set(key, times)
      const full = times === 1 ? key : `${key}#${times}`
      const known = uids.get(full)
      if (known !== undefined) return known
      const uid = uidNext
      uidNext += 1
      uids.set(full, uid)
      unsaved.push(`${uid} ${full}`)
      return uid
    },
    async save() {
      if (unsaved.length === 0) return
      const text = unsaved.map((line) => `${line}\n`).join('')
      unsaved = []
      writeSync(fd, text)
      await makeDurable(fd)
    },
    close: () => closeSync(fd),
  }
}

function load(path: string): {
  uidValidity: number
  uids: Map<string, number>
  last: number
  bytes: number
} {
  const uids = new Map<string, number>()
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const [first = '', ...lines] = whole.split('\n')
  const fresh = { uidValidity: Math.floor(Date.now() / 1_000), uids, last: 0, bytes: 0 }
  if (!/^\d+$/.test(first)) return fresh
  let last = 0
  for (const line of lines) {
    const space = line.indexOf(' ')
    if (space === -1) continue
    last = Math.max(last, Number(line.slice(0, space)))
    uids.set(line.slice(space + 1), Number(line.slice(0, space)))
  }
  return { uidValidity: Number(first), uids, last, bytes: Buffer.byteLength(whole) }
}
