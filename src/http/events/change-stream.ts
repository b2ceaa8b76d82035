import type { ServerResponse } from 'node:http'
import type { Change, ChangeTopic } from '../../store/changes.ts'
import { HEARTBEAT_MS } from './event-streams.ts'

/** Minimum time between two writes. Changes in between are combined. */
export const MIN_WRITE_INTERVAL_MS = 250

/**
 * Objects of one module that are named in an interval. With more, an event with the id `null`
 * stands for all.
 */
export const MAX_NAMED_IDS = 10

export type ChangeStream = {
  onChange: (change: Change) => void
  onMissed: () => void
  end: () => void
}

/**
 * Writes changes as server-sent events, each object once per interval.
 * @param hasAccess called regularly and when the account or the workspace changed; false ends the stream
 */
export function openChangeStream(
  raw: ServerResponse,
  hasAccess: () => Promise<boolean>,
): ChangeStream {
  let pending = new Map<ChangeTopic, Set<string> | null>()
  let hasMissed = false
  let mustCheckAccess = false
  let timer: NodeJS.Timeout | undefined
  let writtenAt = -Infinity

  function scheduleWrite(): void {
    if (!raw.writableEnded)
      timer ??= setTimeout(
        () => void write(),
        Math.max(0, writtenAt + MIN_WRITE_INTERVAL_MS - performance.now()),
      )
  }

  async function write(): Promise<void> {
    // A slow client gets the next events when it has read the previous ones.
    if (raw.writableNeedDrain)
      await new Promise((resolve) => raw.once('drain', resolve).once('close', resolve))
    while (mustCheckAccess) {
      mustCheckAccess = false
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

  function sendHeartbeat(): void {
    if (!raw.writableNeedDrain) raw.write(':\n\n')
    mustCheckAccess = true
    scheduleWrite()
  }

  function end(): void {
    clearInterval(heartbeat)
    clearTimeout(timer)
    raw.end()
  }

  const heartbeat = setInterval(sendHeartbeat, HEARTBEAT_MS)
  raw.write('retry: 2000\n\n')
  return {
    onChange({ room, id }) {
      if (room === 'account' || room === 'workspace') mustCheckAccess = true
      pending.set(room, addId(pending.get(room), id))
      scheduleWrite()
    },
    onMissed() {
      hasMissed = true
      mustCheckAccess = true
      scheduleWrite()
    },
    end,
  }
}

/** Adds an id to the changed ids of a module; null stands for all of them. */
function addId(before: Set<string> | null | undefined, id: string | null): Set<string> | null {
  if (before === null || id === null) return null
  const ids = (before ?? new Set()).add(id)
  return ids.size > MAX_NAMED_IDS ? null : ids
}

function* eventsOf(changes: Map<ChangeTopic, Set<string> | null>): Generator<string> {
  for (const [room, ids] of changes) {
    for (const id of ids ?? [null])
      yield `event: changed\ndata: ${JSON.stringify({ room, id })}\n\n`
  }
}
