import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { findFolders } from '../find-folders.ts'
import { openSource } from '../open-source.ts'
import { serveStore } from '../server/serve-store.ts'
import type { MailStore } from '../store.ts'
import { createPortStream } from './port-stream.ts'
import type { FoundMail, SourceData } from './source-thread.ts'

// The thread of `startSource`: it reads the files, and serves a session on each port it gets.
const { roots, state, labels, inParts } = workerData as SourceData
const folders = roots.map(findFolders).flatMap((found) => found.folders)
const store: MailStore = { folders: new Map() }
const signal = new AbortController().signal
parentPort?.on('message', (port: MessagePort) => serveStore(store, createPortStream(port)))
const report = (isWhole: boolean) => parentPort?.postMessage(foundMail(isWhole), [])
const options = { state, labels, signal, ...(inParts && { onPart: () => report(false) }) }
await openSource({ folders, left: [] }, options, store)
report(true)

function foundMail(isWhole: boolean): FoundMail {
  const found = [...store.folders.values()]
  return {
    folders: found.map(({ path, messages, bytes }) => ({ path, messages: messages.length, bytes })),
    isWhole,
  }
}
