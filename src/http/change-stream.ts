import type { ServerResponse } from 'node:http'
import type { Change, ChangeTopic } from '../store/changes.ts'
import { HEARTBEAT_MS } from './event-streams.ts'

/** Milliseconds between two writings; what changes in between is written once. */
export const MIN_WRITE_INTERVAL_MS = 250

/** Things of one room that are named; of more it is only said that the room changed. */
export const MAX_NAMED_IDS = 10

export type ChangeStream = {
  onChange: (change: Change) => void
  onMissed: () => void
  end: () => void
}

/**
 * Writes what changes as server-sent events, each thing once however often it changed meanwhile.
 * @param hasAccess asked now and then, and when the account changed; false ends the stream
 */
export function openChangeStream(raw: ServerResponse, hasAccess: () => Promise<boolean>): ChangeStream {
  let pending = new Map<ChangeTopic, Set<string> | null>()
  let hasMissed = false
  let mustAsk = false
  let timer: NodeJS.Timeout | undefined
  let writtenAt = -Infinity

  function later(): void {
    if (!raw.writableEnded)
      timer ??= setTimeout(() => void write(), Math.max(0, writtenAt + MIN_WRITE_INTERVAL_MS - performance.now()))
  }

  async function write(): Promise<void> {
    // Who reads slowly is told when they have read what they were sent.
    if (raw.writableNeedDrain) await new Promise((resolve) => raw.once('drain', resolve).once('close', resolve))
    while (mustAsk) {
      mustAsk = false
      if (!(await hasAccess())) return end()
    }
    timer = undefined
    if (raw.writableEnded) return
    writtenAt = performance.now()
    const text = hasMissed ? 'event: missed\ndata: {}\n\n' : [...eventsOf(pending)].join('')
    hasMissed = false
    pending = new Map()
    if (text !== '') raw.write(text)
  }

  function beat(): void {
    if (!raw.writableNeedDrain) raw.write(':\n\n')
    mustAsk = true
    later()
  }

  function end(): void {
    clearInterval(heartbeat)
    clearTimeout(timer)
    raw.end()
  }

  const heartbeat = setInterval(beat, HEARTBEAT_MS)
  raw.write('retry: 2000\n\n')
  return {
    onChange({ room, id }) {
      if (room === 'account') mustAsk = true
      pending.set(room, addId(pending.get(room), id))
      later()
    },
    onMissed() {
      hasMissed = true
      mustAsk = true
      later()
    },
    end,
  }
}

/** Null is all of a room. */
function addId(before: Set<string> | null | undefined, id: string | null): Set<string> | null {
  if (before === null || id === null) return null
  const ids = (before ?? new Set()).add(id)
  return ids.size > MAX_NAMED_IDS ? null : ids
}

function* eventsOf(changes: Map<ChangeTopic, Set<string> | null>): Generator<string> {
  for (const [room, ids] of changes) {
    for (const id of ids ?? [null]) yield `event: changed\ndata: ${JSON.stringify({ room, id })}\n\n`
  }
}
