import type { FastifyReply } from 'fastify'
import type { Change, ChangeTopic } from '../../store/changes.ts'
import { openEventWriter, type EventWriter, type ServerSentEvent } from './event-writer.ts'

/** Minimum time between two writes. Changes in between are combined. */
const MIN_WRITE_INTERVAL_MS = 250

/**
 * Objects of one module that are named in an interval. With more, an event with the id `null`
 * stands for all.
 */
const MAX_NAMED_IDS = 10

export type ChangeStream = {
  onChange: (change: Change) => void
  onMissed: () => void
  writer: EventWriter
}

/**
 * Writes changes as server-sent events, each object once per interval.
 * @param hasAccess called regularly and when the account or the workspace changed; false ends the stream
 */
export function openChangeStream(
  reply: FastifyReply,
  hasAccess: () => Promise<boolean>,
): ChangeStream {
  let pending = new Map<ChangeTopic, Set<string> | null>()
  let hasMissed = false
  let mustCheckAccess = false
  let timer: NodeJS.Timeout | undefined
  let writtenAt = -Infinity

  function scheduleWrite(): void {
    if (!writer.ended.aborted)
      timer ??= setTimeout(
        () => void write(),
        Math.max(0, writtenAt + MIN_WRITE_INTERVAL_MS - performance.now()),
      )
  }

  async function write(): Promise<void> {
    // A slow client gets the next events when it has read the previous ones.
    await writer.caughtUp()
    while (mustCheckAccess) {
      mustCheckAccess = false
      if (!(await hasAccess())) return writer.end()
    }
    timer = undefined
    writtenAt = performance.now()
    if (hasMissed) writer.send({ name: 'missed', data: {} })
    else for (const event of eventsOf(pending)) writer.send(event)
    hasMissed = false
    pending = new Map()
  }

  const writer = openEventWriter(reply, () => {
    mustCheckAccess = true
    scheduleWrite()
  })
  writer.ended.addEventListener('abort', () => clearTimeout(timer))
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
    writer,
  }
}

/** Adds an id to the changed ids of a module; null stands for all of them. */
function addId(before: Set<string> | null | undefined, id: string | null): Set<string> | null {
  if (before === null || id === null) return null
  const ids = (before ?? new Set()).add(id)
  return ids.size > MAX_NAMED_IDS ? null : ids
}

function* eventsOf(changes: Map<ChangeTopic, Set<string> | null>): Generator<ServerSentEvent> {
  for (const [room, ids] of changes)
    for (const id of ids ?? [null]) yield { name: 'changed', data: { room, id } }
}
