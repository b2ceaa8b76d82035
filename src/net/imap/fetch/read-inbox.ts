import { createFolder, subscribe } from '../folders/create-folder.ts'
import { astring, type CommandPart } from '../connection/command-encoding.ts'
import { afterExpunges } from './retry-after-expunges.ts'
import { fetchBodies, type Body } from './fetch-bodies.ts'
import { searchUids, select } from '../folders/mailbox.ts'
import { encodeMailbox } from '../folders/mailbox-name.ts'
import type { Wire } from '../connection/wire.ts'

/** How far a folder was read. `uidValidity` is null before the first time. */
export type ReadPosition = { uidValidity: number | null; lastUid: number }

export type InboxOptions = {
  folder: string
  /** The folder that processed messages are moved to; null: they are marked as seen. */
  moveTo: string | null
  position: ReadPosition
  /** Larger messages are not read: they are passed as null. */
  maxMessageBytes: number
  signal: AbortSignal
  /**
   * Processes a message for good. On true, it is moved or marked. If it throws, reading ends and
   * the message stays.
   */
  onMessage: (bytes: Buffer | null, uid: number) => Promise<boolean>
  /** Called after each message with the new position. */
  onPosition: (mark: ReadPosition) => Promise<void>
}

/**
 * Reads the messages that arrived in a folder since the last time, oldest first. A message is moved
 * or marked only after it was processed.
 * @throws ImapRefused, ImapLost, and errors of `onMessage`
 */
export async function readInbox(wire: Wire, options: InboxOptions): Promise<void> {
  const { folder, moveTo, position, signal } = options
  if (moveTo !== null) await ensureFolder(wire, moveTo)
  const { uidValidity } = await select(wire, encodeMailbox(folder))
  // With another UIDVALIDITY, earlier UIDs mean nothing.
  const since = uidValidity !== null && uidValidity === position.uidValidity ? position.lastUid : 0
  const uids = await searchUids(wire, `UID ${since + 1}:* UNDELETED`)
  // The last message always matches `n:*`, even when it is older.
  for (const uid of uids.filter((one) => one > since)) {
    if (signal.aborted) return
    const isDone = await processMessage(wire, uid, options)
    await options.onPosition({ uidValidity, lastUid: uid })
    if (isDone) await archiveMessage(wire, uid, moveTo)
  }
}

async function ensureFolder(wire: Wire, path: string): Promise<void> {
  const name = encodeMailbox(path)
  if ((await createFolder(wire, name)) === 'created') await subscribe(wire, name)
}

/** False for a message that is gone or that the server does not return. */
async function processMessage(
  wire: Wire,
  uid: number,
  { maxMessageBytes, onMessage }: InboxOptions,
): Promise<boolean> {
  for await (const fetched of fetchBodies(wire, [{ uid, size: null }])) {
    if (fetched.state === 'here')
      return onMessage(await readWhole(fetched.body, maxMessageBytes), uid)
  }
  return false
}

/** The bytes of a message; null for one that is larger. */
export async function readWhole(body: Body, largest: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of Buffer.isBuffer(body) ? [body] : body) {
    size += chunk.length
    // The rest of a body that is too large is read and dropped: the response has to end before the
    // next can begin.
    if (size <= largest) chunks.push(chunk)
  }
  return size > largest ? null : Buffer.concat(chunks, size)
}

/** A message that another client expunged meanwhile need not be moved. */
async function archiveMessage(wire: Wire, uid: number, moveTo: string | null): Promise<void> {
  const run = async (...parts: CommandPart[]) => afterExpunges(wire, async () => wire.run(parts))
  if (moveTo === null) return void (await run(`UID STORE ${uid} +FLAGS.SILENT (\\Seen)`))
  const name = astring(encodeMailbox(moveTo))
  if (wire.capabilities.has('MOVE')) return void (await run(`UID MOVE ${uid} `, name))
  await run(`UID COPY ${uid} `, name)
  await run(`UID STORE ${uid} +FLAGS.SILENT (\\Seen \\Deleted)`)
  // Without UIDPLUS, EXPUNGE would also remove messages that the user deleted.
  if (wire.capabilities.has('UIDPLUS')) await run(`UID EXPUNGE ${uid}`)
}
