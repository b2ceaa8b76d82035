import { createFolder, subscribe } from '../folders/create-folder.ts'
import { astring, type CommandPart } from '../connection/command-encoding.ts'
import { afterExpunges } from './retry-after-expunges.ts'
import { fetchBodies, type Body } from './fetch-bodies.ts'
import { searchUids, select } from '../folders/mailbox.ts'
import { encodeMailbox } from '../folders/mailbox-name.ts'
import type { Wire } from '../connection/wire.ts'

/** How far a folder was read. `uidValidity` null: it never was. */
export type ReadPosition = { uidValidity: number | null; lastUid: number }

export type InboxOptions = {
  folder: string
  /** Where messages go that were dealt with; null: they are marked as seen. */
  moveTo: string | null
  position: ReadPosition
  /** A larger message is not taken: it comes as null. */
  maxMessageBytes: number
  signal: AbortSignal
  /** Deals with a message, for good. True: it is moved or marked. When it throws, reading ends and the message stays. */
  onMessage: (bytes: Buffer | null, uid: number) => Promise<boolean>
  /** Called after each message with how far reading has come. */
  onPosition: (mark: ReadPosition) => Promise<void>
}

/**
 * Reads what came into a folder since the last time, oldest first. A message is touched only once it was dealt with.
 * @throws ImapRefused, ImapLost, and what `onMessage` throws
 */
export async function readInbox(wire: Wire, options: InboxOptions): Promise<void> {
  const { folder, moveTo, position, signal } = options
  if (moveTo !== null) await ensureFolder(wire, moveTo)
  const { uidValidity } = await select(wire, encodeMailbox(folder))
  // Where UIDs mean something else than last time, nothing is known of any of them.
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

/** False for a message that is gone, or that the server does not give. */
async function processMessage(wire: Wire, uid: number, { maxMessageBytes, onMessage }: InboxOptions): Promise<boolean> {
  for await (const fetched of fetchBodies(wire, [{ uid, size: null }])) {
    if (fetched.state === 'here') return onMessage(await readWhole(fetched.body, maxMessageBytes), uid)
  }
  return false
}

async function readWhole(body: Body, largest: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of Buffer.isBuffer(body) ? [body] : body) {
    size += chunk.length
    // What is too large is read on without being kept: the answer has to end before the next can begin.
    if (size <= largest) chunks.push(chunk)
  }
  return size > largest ? null : Buffer.concat(chunks, size)
}

/** What another client has expunged meanwhile needs not be put away. */
async function archiveMessage(wire: Wire, uid: number, moveTo: string | null): Promise<void> {
  const run = async (...parts: CommandPart[]) => afterExpunges(wire, async () => wire.run(parts))
  if (moveTo === null) return void (await run(`UID STORE ${uid} +FLAGS.SILENT (\\Seen)`))
  const name = astring(encodeMailbox(moveTo))
  if (wire.capabilities.has('MOVE')) return void (await run(`UID MOVE ${uid} `, name))
  await run(`UID COPY ${uid} `, name)
  await run(`UID STORE ${uid} +FLAGS.SILENT (\\Seen \\Deleted)`)
  // Without UIDPLUS, EXPUNGE would take along what the user deleted.
  if (wire.capabilities.has('UIDPLUS')) await run(`UID EXPUNGE ${uid}`)
}
