import { createFolder, subscribe } from './create-folder.ts'
import { astring, type Part } from './encode.ts'
import { afterExpunges } from './expunged.ts'
import { fetchBodies, type Body } from './fetch-bodies.ts'
import { searchUids, select } from './mailbox.ts'
import { encodeMailbox } from './mailbox-name.ts'
import type { Wire } from './wire.ts'

/** How far a folder was read. `uidValidity` null: it never was. */
export type Mark = { uidValidity: number | null; lastUid: number }

export type InboxOptions = {
  folder: string
  /** Where messages go that were dealt with; null: they are marked as seen. */
  moveTo: string | null
  mark: Mark
  /** A larger message is not taken: it comes as null. */
  largest: number
  signal: AbortSignal
  /** Deals with a message, for good. True: it is moved or marked. When it throws, reading ends and the message stays. */
  onMessage: (bytes: Buffer | null, uid: number) => Promise<boolean>
  /** Called after each message with how far reading has come. */
  onMark: (mark: Mark) => Promise<void>
}

/**
 * Reads what came into a folder since the last time, oldest first. A message is touched only once it was dealt with.
 * @throws ImapRefused, ImapLost, and what `onMessage` throws
 */
export async function readInbox(wire: Wire, options: InboxOptions): Promise<void> {
  const { folder, moveTo, mark, signal } = options
  if (moveTo !== null) await prepare(wire, moveTo)
  const { uidValidity } = await select(wire, encodeMailbox(folder))
  // Where UIDs mean something else than last time, nothing is known of any of them.
  const since = uidValidity !== null && uidValidity === mark.uidValidity ? mark.lastUid : 0
  const uids = await searchUids(wire, `UID ${since + 1}:* UNDELETED`)
  // The last message always matches `n:*`, even when it is older.
  for (const uid of uids.filter((one) => one > since)) {
    if (signal.aborted) return
    const isDone = await takeOne(wire, uid, options)
    await options.onMark({ uidValidity, lastUid: uid })
    if (isDone) await putAway(wire, uid, moveTo)
  }
}

async function prepare(wire: Wire, path: string): Promise<void> {
  const name = encodeMailbox(path)
  if ((await createFolder(wire, name)) === 'created') await subscribe(wire, name)
}

/** False for a message that is gone, or that the server does not give. */
async function takeOne(wire: Wire, uid: number, { largest, onMessage }: InboxOptions): Promise<boolean> {
  for await (const fetched of fetchBodies(wire, [{ uid, size: null }])) {
    if (fetched.state === 'here') return onMessage(await whole(fetched.body, largest), uid)
  }
  return false
}

async function whole(body: Body, largest: number): Promise<Buffer | null> {
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
async function putAway(wire: Wire, uid: number, moveTo: string | null): Promise<void> {
  const run = async (...parts: Part[]) => afterExpunges(wire, async () => wire.run(parts))
  if (moveTo === null) return void (await run(`UID STORE ${uid} +FLAGS.SILENT (\\Seen)`))
  const name = astring(encodeMailbox(moveTo))
  if (wire.capabilities.has('MOVE')) return void (await run(`UID MOVE ${uid} `, name))
  await run(`UID COPY ${uid} `, name)
  await run(`UID STORE ${uid} +FLAGS.SILENT (\\Seen \\Deleted)`)
  // Without UIDPLUS, EXPUNGE would take along what the user deleted.
  if (wire.capabilities.has('UIDPLUS')) await run(`UID EXPUNGE ${uid}`)
}
