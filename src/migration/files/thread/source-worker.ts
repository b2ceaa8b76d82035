import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { findFolders } from '../find-folders.ts'
import { openSource } from '../open-source.ts'
import { serveStore } from '../server/serve-store.ts'
import { createPortStream } from './port-stream.ts'
import type { SourceData, SourceFolder } from './source-thread.ts'

// The thread of `startSource`: it reads the files, and then serves a session on each port it gets.
const { roots, state, labels } = workerData as SourceData
const folders = roots.map(findFolders).flatMap((found) => found.folders)
const never = new AbortController().signal
const store = await openSource({ folders, left: [] }, { state, labels, signal: never })
parentPort?.on('message', (port: MessagePort) => serveStore(store, createPortStream(port)))
const summary = [...store.folders.values()].map(({ path, messages, bytes }): SourceFolder => ({
  path,
  messages: messages.length,
  bytes,
}))
parentPort?.postMessage(summary, [])
