import { once } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { Session } from '../../../net/imap/connection/session.ts'
import type { LabelMode } from '../open-source.ts'
import { storeSessionOver } from '../server/serve-store.ts'
import { createPortStream } from './port-stream.ts'

export type SourceData = {
  roots: readonly string[]
  /** The folder for the UIDs. */
  state: string
  labels: LabelMode
}

export type SourceFolder = { path: string; messages: number; bytes: number }

/** Mail in files that another thread reads, while this one sends it. */
export type SourceThread = {
  folders: SourceFolder[]
  /** @throws the error that ended the thread */
  openSession: () => Session
  close: () => Promise<void>
}

/** The file beside this one: TypeScript in a checkout, JavaScript in the package. */
const WORKER = new URL(
  `./source-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`,
  import.meta.url,
)

/**
 * Starts a thread that reads the places of all messages below the roots, and gives them UIDs.
 * @throws errors of reading files, and the signal’s reason
 */
export async function startSource(data: SourceData, signal: AbortSignal): Promise<SourceThread> {
  signal.throwIfAborted()
  const worker = new Worker(WORKER, { workerData: data, execArgv: [] })
  const close = async () => void (await worker.terminate())
  try {
    const [folders] = (await once(worker, 'message', { signal })) as [SourceFolder[]]
    let failure: Error | null = null
    worker.on('error', (error: Error) => (failure = error))
    return {
      folders,
      openSession() {
        if (failure) throw failure
        const { port1, port2 } = new MessageChannel()
        worker.postMessage(port2, [port2])
        return storeSessionOver(createPortStream(port1), { ownsChunks: true })
      },
      close,
    }
  } catch (error) {
    await close()
    signal.throwIfAborted()
    throw error
  }
}
