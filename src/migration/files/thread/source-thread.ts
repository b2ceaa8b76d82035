import { once } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { Session } from '../../../net/imap/connection/imap-session.ts'
import { freeSharedWith } from '../../../net/free-buffer.ts'
import type { LeftOut } from '../formats/found-message.ts'
import { MEMORY_PARTS } from '../formats/memory-parts.ts'
import type { LabelMode } from '../open-source.ts'
import { storeSessionOver } from '../server/serve-store.ts'
import { createPortStream } from './port-stream.ts'
import { SharedPlaces } from './shared-places.ts'

export type SourceData = {
  roots: readonly string[]
  /** The folder for the UIDs. */
  state: string
  labels: LabelMode
  /** Whether messages are served while others are read. */
  inParts: boolean
}

export type SourceFolder = { path: string; messages: number; bytes: number }

/** The folders as far as they were read; the rest is complete once everything was read. */
export type FoundMail = {
  folders: SourceFolder[]
  isWhole: boolean
  left: LeftOut[]
  /** Labels that became folders, because they are none of Gmail’s own. */
  ownLabels: string[]
  /** Messages that count as unread, because their labels do not tell. */
  unknownStates: { folder: string; messages: number }[]
}

/** What the thread sends, with the memory that it shares. */
export type SourceNews = { mail: FoundMail; memory: SharedArrayBuffer }

/** Mail in files that another thread reads, while this one sends it. */
export type SourceThread = {
  /**
   * Waits until the thread has read more than the last time.
   * @throws errors of reading files, and the signal’s reason
   */
  found: () => Promise<FoundMail>
  /** Opens a session, once `found` has returned. @throws the error that ended the thread */
  openSession: () => Session
  close: () => Promise<void>
}

/** The file beside this one: TypeScript in a checkout, JavaScript in the package. */
const WORKER = new URL(
  `./source-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`,
  import.meta.url,
)

/** Starts a thread that reads the places of all messages below the roots, and gives them UIDs. */
export function startSource(data: SourceData, signal: AbortSignal): SourceThread {
  const worker = new Worker(WORKER, { workerData: data, execArgv: [] })
  let news: FoundMail | null = null
  let places: SharedPlaces | null = null
  let failure: Error | null = null
  worker.on('message', ({ mail, memory }: SourceNews) => {
    news = mail
    places ??= share(memory)
  })
  worker.on('error', (error: Error) => (failure = error))

  async function found(): Promise<FoundMail> {
    signal.throwIfAborted()
    if (failure) throw failure
    if (!news) await once(worker, 'message', { signal })
    const latest = news as FoundMail
    news = null
    return latest
  }

  return {
    found: () =>
      found().catch((error: unknown) => {
        signal.throwIfAborted()
        throw error
      }),
    openSession() {
      if (failure) throw failure
      if (!places) throw new Error('No mail was found yet.')
      const { port1, port2 } = new MessageChannel()
      worker.postMessage(port2, [port2])
      return storeSessionOver(createPortStream(port1, places), { ownsChunks: true })
    },
    close: async () => void (await worker.terminate()),
  }
}

/** Lets this thread read and free what the other one writes. */
function share(memory: SharedArrayBuffer): SharedPlaces {
  const places = new SharedPlaces(memory, MEMORY_PARTS.messages.at)
  freeSharedWith(memory, (place) => places.free(place))
  return places
}
