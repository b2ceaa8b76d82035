import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { findFolders } from '../find-folders.ts'
import { openSource } from '../open-source.ts'
import { serveStore } from '../server/serve-store.ts'
import type { MailStore } from '../store.ts'
import { moduleMemory } from '../formats/bare-ends.ts'
import { MEMORY_PARTS } from '../formats/memory-parts.ts'
import { createPortStream } from './port-stream.ts'
import { SharedPlaces } from './shared-places.ts'
import type { SourceData, SourceNews } from './source-thread.ts'

// The thread of `startSource`: it reads the files, and serves a session on each port it gets.
const { roots, state, labels, inParts } = workerData as SourceData
const folders = roots.map(findFolders).flatMap((found) => found.folders)
const store: MailStore = { folders: new Map() }
const signal = new AbortController().signal
const places = new SharedPlaces(moduleMemory, MEMORY_PARTS.messages.at)
parentPort?.on('message', (port: MessagePort) =>
  serveStore(store, createPortStream(port, places), places),
)
const report = (isWhole: boolean) => parentPort?.postMessage(newsOf(isWhole), [])
const options = { state, labels, signal, ...(inParts && { onPart: () => report(false) }) }
await openSource({ folders, left: [] }, options, store)
report(true)

function newsOf(isWhole: boolean): SourceNews {
  const found = [...store.folders.values()].map(({ path, messages, bytes }) => ({
    path,
    messages: messages.length,
    bytes,
  }))
  return { mail: { folders: found, isWhole }, memory: moduleMemory }
}
