import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { findFolders } from '../find-folders.ts'
import type { LeftOut } from '../formats/found-message.ts'
import { openSource, type SourceOptions } from '../open-source.ts'
import { serveStore } from '../server/serve-store.ts'
import type { MailStore } from '../mail-files.sql.ts'
import { moduleMemory } from '../formats/bare-ends.ts'
import { MEMORY_PARTS } from '../formats/memory-parts.ts'
import { createPortStream } from './port-stream.ts'
import { SharedPlaces } from './shared-places.ts'
import type { FoundMail, SourceData, SourceNews } from './source-thread.ts'

// The thread of `startSource`: it reads the files, and serves a session on each port it gets.
const { roots, state, labels, inParts } = workerData as SourceData
const found = roots.map(findFolders)
const store: MailStore = { folders: new Map() }
const left = found.flatMap((each) => each.left)
const ownLabels = new Set<string>()
const unknownStates: FoundMail['unknownStates'] = []
const signal = new AbortController().signal
const places = new SharedPlaces(moduleMemory, MEMORY_PARTS.messages.at)
parentPort?.on('message', (port: MessagePort) =>
  serveStore(store, createPortStream(port, places), places),
)
const report = (isWhole: boolean) => parentPort?.postMessage(newsOf(isWhole), [])
const options: SourceOptions = {
  origin: roots.join(':'),
  state,
  labels,
  signal,
  onLeft: (each) => left.push(each),
  onLabel: (label) => ownLabels.add(label),
  onUnknownState: (folder, messages) => unknownStates.push({ folder, messages }),
  ...(inParts && { onPart: () => report(false) }),
}
await openSource(
  found.flatMap(({ folders }) => folders),
  options,
  store,
)
report(true)

/** Only the last news say what was left out. */
function newsOf(isWhole: boolean): SourceNews {
  const folders = [...store.folders.values()].map(({ path, messages, bytes }) => ({
    path,
    messages: messages.length,
    bytes,
  }))
  const rest = isWhole
    ? { left: sumUp(left), ownLabels: [...ownLabels], unknownStates }
    : { left: [], ownLabels: [], unknownStates: [] }
  return { mail: { folders, isWhole, ...rest }, memory: moduleMemory }
}

/** One entry for each path and reason. */
function sumUp(all: readonly LeftOut[]): LeftOut[] {
  const byKey = new Map<string, LeftOut>()
  for (const each of all) {
    const key = JSON.stringify([each.path, each.reason])
    const known = byKey.get(key)
    if (known) known.count += each.count
    else byKey.set(key, { ...each })
  }
  return [...byKey.values()]
}
