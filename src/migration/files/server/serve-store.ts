import { duplexPair, type Duplex } from 'node:stream'
import { createWire } from '../../../net/imap/connection/wire.ts'
import type { Session } from '../../../net/imap/connection/imap-session.ts'
import { IMAP_LIMITS } from '../../../net/imap/limits.ts'
import { encodeMailbox } from '../../../net/imap/folders/mailbox-name.ts'
import { parseUidSet } from '../../engine/journal/uid-set.ts'
import type {
  IncomingMessage,
  IncomingMeta,
  MailStore,
  StoredMessage,
  StoreFolder,
} from '../mail-files.sql.ts'
import { changedError } from '../formats/file-part.ts'
import { reasonOf } from '../formats/found-message.ts'
import { createCommandReader, readName, type Command } from './read-commands.ts'
import {
  firstFrom,
  metaOf,
  openingLines,
  pathOf,
  quoted,
  rangesOf,
  rowOf,
  searchLine,
  statusLine,
} from './imap-responses.ts'

const CAPABILITIES = [
  'IMAP4REV1',
  'UIDPLUS',
  'MULTIAPPEND',
  'LITERAL+',
  'BINARY',
  'LIST-EXTENDED',
  'LIST-STATUS',
  'STATUS=SIZE',
  'ESEARCH',
]

/**
 * Opens a session with mail in files. The engine speaks IMAP to it over a stream in memory, so that
 * files are copied, resumed and verified as any server is.
 */
export function openStoreSession(store: MailStore): Session {
  const [client, server] = duplexPair({ highWaterMark: 1024 * 1024 })
  serve(store, server, { client, memory: null })
  return storeSessionOver(client, { ownsChunks: false })
}

/** Opens a session over a stream, at whose other end a store is served. */
export function storeSessionOver(stream: Duplex, { ownsChunks }: { ownsChunks: boolean }): Session {
  return {
    wire: createWire(stream, { capabilities: CAPABILITIES, ownsChunks }),
    namespace: { prefix: '', delimiter: '/' },
    isEncrypted: true,
    isCourier: false,
  }
}

/** Larger messages are sent in parts, because the engine streams them. */
const MAX_WHOLE_BYTES = IMAP_LIMITS.streamAboveBytes
/** Smaller responses are copied together instead of taking shared memory. */
const MAX_COPIED_BYTES = 4 * 1024
const BODY_END = ')\r\n'
/** Bytes of a response beside the message. */
const MAX_FRAME_BYTES = 256

/** A message of an APPEND that is being read. */
type Arrived = { incoming: IncomingMessage; meta: IncomingMeta }

/** The messages of an APPEND, and the error of one that could not be written. */
type Received = { arrived: Arrived[]; failure: unknown }

/** The code of a failed APPEND: a full disk is the folder’s, anything else may be the message’s. */
function codeOf(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException
  return ['ENOSPC', 'EDQUOT'].includes(code) ? '[OVERQUOTA]' : '[SERVERBUG]'
}

/**
 * Memory for whole responses, which the reader of the stream frees. If there is none, the stream
 * takes buffers with their memory.
 */
export type ResponseMemory = {
  take: (bytes: number) => Buffer | null
  free: (place: number) => void
}

/** Serves a store to one client, over a stream that takes buffers with their memory. */
export function serveStore(store: MailStore, socket: Duplex, memory: ResponseMemory): void {
  serve(store, socket, { client: null, memory })
}

type Reader = {
  /** The other end of a stream in memory, which passes buffers on as they are. */
  client: Duplex | null
  memory: ResponseMemory | null
}

function serve(store: MailStore, socket: Duplex, reader: Reader): void {
  const session = new StoreSession(store, socket, reader)
  socket.on('data', (chunk: Buffer) => session.push(chunk))
  socket.on('error', () => undefined)
  socket.on('drain', () => session.resume())
  socket.on('close', () => session.close())
  socket.on('end', () => socket.destroy())
}

class StoreSession {
  readonly #store: MailStore
  readonly #socket: Duplex
  readonly #client: Duplex | null
  readonly #memory: ResponseMemory | null
  /** For the next whole response, unless the reader still has it. */
  #buffer: Buffer | null = null
  readonly #reader: { push(chunk: Buffer): void }
  #selected: StoreFolder | null = null
  /** Messages of the APPEND that is being read. */
  #arrived: Arrived[] = []
  /** Why a message of it could not be written. */
  #failure: unknown = null
  /** Continues sending. */
  #resume: (() => void) | null = null
  /** Commands run one after another. */
  #running: Promise<void> = Promise.resolve()

  constructor(store: MailStore, socket: Duplex, { client, memory }: Reader) {
    this.#store = store
    this.#socket = socket
    this.#client = client
    this.#memory = memory
    this.#reader = createCommandReader({
      onLiteral: (before, _size, isSynchronizing) => {
        if (isSynchronizing) socket.write('+ OK\r\n')
        return this.#receive(before)
      },
      onCommand: (command) => {
        const received = { arrived: this.#arrived, failure: this.#failure }
        this.#arrived = []
        this.#failure = null
        this.#running = this.#running
          .then(() => this.#run(command, received))
          .catch((error: unknown) => void socket.destroy(error as Error))
      },
    })
  }

  push(chunk: Buffer): void {
    this.#reader.push(chunk)
  }

  resume(): void {
    this.#resume?.()
    this.#resume = null
  }

  close(): void {
    for (const { incoming } of this.#arrived) incoming.discard()
    this.#arrived = []
    this.resume()
  }

  /** Takes a message of an APPEND. Into a folder that does not exist, it is read and dropped. */
  #receive(before: string): { write(chunk: Buffer): void; end(): void } {
    const text = before.replace(/^\S+ \S+ /, '')
    const [name] = readName(text)
    const folder = this.#find(name)
    const nothing = { write: () => undefined, end: () => undefined }
    if (!folder || !this.#store.writer) return nothing
    const failed = (error: unknown) => (this.#failure ??= error)
    try {
      const incoming = this.#store.writer.begin(folder)
      this.#arrived.push({ incoming, meta: metaOf(before) })
      const write = (chunk: Buffer) => {
        try {
          incoming.write(chunk)
        } catch (error) {
          failed(error)
        }
      }
      return { write, end: () => undefined }
    } catch (error) {
      failed(error)
      return nothing
    }
  }

  async #run({ tag, verb, text }: Command, { arrived, failure }: Received): Promise<void> {
    const { status, before } = await this.#answer(verb, text, { arrived, failure })
    await this.#send(`${before}${tag} ${status}\r\n`)
    if (verb === 'LOGOUT') this.#socket.end()
  }

  async #answer(
    verb: string,
    text: string,
    { arrived, failure }: Received,
  ): Promise<{ status: string; before: string }> {
    const done = (before = '', code = '') => ({ status: `OK ${code}Done.`, before })
    const missing = { status: 'NO [TRYCREATE] The folder does not exist.', before: '' }
    const [name, rest] = readName(text)
    if (verb === 'LIST') return done(this.#list())
    if (verb === 'STATUS') {
      const folder = this.#find(name)
      return folder ? done(statusLine(name, folder)) : missing
    }
    if (verb === 'SELECT' || verb === 'EXAMINE') {
      this.#selected = this.#find(name) ?? null
      const access = verb === 'SELECT' && this.#store.writer ? 'READ-WRITE' : 'READ-ONLY'
      return this.#selected
        ? done(openingLines(this.#selected, this.#store.writer?.hasFlags ?? true), `[${access}] `)
        : missing
    }
    if (verb === 'CREATE') {
      const path = pathOf(name)
      if (this.#store.folders.has(path))
        return { status: 'NO [ALREADYEXISTS] The folder exists.', before: '' }
      try {
        this.#store.writer?.create(path)
      } catch (error) {
        return { status: `NO [CANNOT] ${reasonOf(error)}`, before: '' }
      }
      return done()
    }
    if (verb === 'APPEND') {
      const folder = this.#find(name)
      if (!folder || !this.#store.writer) return missing
      try {
        if (failure !== null) throw failure
        const uids = await this.#store.writer.commit(folder, arrived)
        return done('', `[APPENDUID ${folder.uidValidity} ${uids.join(',')}] `)
      } catch (error) {
        for (const { incoming } of arrived) incoming.discard()
        return { status: `NO ${codeOf(error)} ${reasonOf(error)}`, before: '' }
      }
    }
    if (verb === 'UID SEARCH') return done(searchLine(this.#selected, text))
    if (verb === 'UID FETCH') {
      await this.#sendMessages(name, rest)
      return done()
    }
    if (verb === 'UID STORE') {
      const flags = /\(([^)]*)\)/.exec(rest)?.[1]?.split(' ') ?? []
      if (this.#selected)
        this.#store.writer?.addFlags(this.#selected, new Set(parseUidSet(name)), flags)
      return done()
    }
    return done(verb === 'LOGOUT' ? '* BYE Goodbye.\r\n' : '')
  }

  #find(name: string): StoreFolder | undefined {
    return this.#store.folders.get(pathOf(name))
  }

  #list(): string {
    return [...this.#store.folders.values()]
      .map((folder) => {
        const name = quoted(encodeMailbox(folder.path))
        return `* LIST (\\Subscribed) "/" ${name}\r\n${statusLine(encodeMailbox(folder.path), folder)}`
      })
      .join('')
  }

  async #sendMessages(set: string, items: string): Promise<void> {
    const folder = this.#selected
    if (!folder) return
    const { messages } = folder
    const isBody = items.includes('BODY.PEEK[]')
    const isHeader = items.includes('HEADER.FIELDS')
    let waiting = ''
    for (const [from, to] of rangesOf(set)) {
      for (let at = firstFrom(messages, from); at < messages.length; at++) {
        const message = messages[at] as StoredMessage
        if (message.uid > to) break
        if (isBody) await this.#sendBody(at + 1, message)
        else {
          waiting += rowOf(at + 1, message, isHeader)
          if (waiting.length > 64 * 1024) {
            await this.#send(waiting)
            waiting = ''
          }
        }
      }
    }
    if (waiting !== '') await this.#send(waiting)
  }

  async #sendBody(number: number, message: StoredMessage): Promise<void> {
    const { uid, size } = message
    const head = `* ${number} FETCH (UID ${uid} BODY[] {${size}}\r\n`
    if (size > MAX_WHOLE_BYTES) return this.#sendParts(head, message)
    if (this.#client) return this.#sendWhole(head, message, this.#client)
    const bytes = head.length + size + BODY_END.length
    const shared = bytes > MAX_COPIED_BYTES ? this.#memory?.take(bytes) : null
    const response = shared ?? Buffer.allocUnsafe(bytes)
    try {
      writeResponse(response, head, message)
      await this.#send(response)
    } catch (error) {
      if (shared) this.#memory?.free(shared.byteOffset)
      throw error
    }
  }

  async #sendParts(head: string, { size, read }: StoredMessage): Promise<void> {
    await this.#send(head)
    let sent = 0
    for (const part of read()) {
      sent += part.length
      await this.#send(Buffer.from(part))
    }
    if (sent !== size) throw changedError()
    await this.#send(BODY_END)
  }

  /**
   * Sends a response from a buffer that is used again, because a new one for each message would keep
   * the garbage collector busy. A reader that pauses keeps it, and the next message gets another.
   */
  async #sendWhole(head: string, message: StoredMessage, client: Duplex): Promise<void> {
    const buffer = this.#buffer ?? Buffer.allocUnsafeSlow(MAX_WHOLE_BYTES + MAX_FRAME_BYTES)
    this.#buffer = null
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const response = writeResponse(buffer, head, message)
    this.#socket.write(response, (error) => (error ? reject(error) : resolve()))
    await promise
    if (client.readableLength === 0) this.#buffer = buffer
  }

  async #send(data: string | Buffer): Promise<void> {
    const socket = this.#socket
    if (socket.destroyed) throw new Error('The session has ended.')
    const hasRoom = typeof data === 'string' ? socket.write(data, 'latin1') : socket.write(data)
    if (!hasRoom) await new Promise<void>((resolve) => (this.#resume = resolve))
  }
}

/** Writes a whole response into a buffer. Returns the part of it that has the response. */
function writeResponse(buffer: Buffer, head: string, message: StoredMessage): Buffer {
  const start = buffer.write(head, 'latin1')
  const end = start + message.size
  fillBody(buffer.subarray(start, end), message)
  return buffer.subarray(0, end + buffer.write(BODY_END, end, 'latin1'))
}

function fillBody(body: Buffer, { read, fill }: StoredMessage): void {
  if (fill) fill(body)
  else copyParts(read(), body)
}

function copyParts(parts: Iterable<Buffer>, target: Buffer): void {
  let at = 0
  for (const part of parts) {
    if (at + part.length > target.length) throw changedError()
    at += part.copy(target, at)
  }
  if (at !== target.length) throw changedError()
}
