import type { ServerResponse } from 'node:http'
import { Fault } from '../../../errors.ts'
import { HEARTBEAT_MS } from '../../../http/events/event-streams.ts'
import type { Logger } from '../../../log.ts'
import type { Db } from '../../../store/database.ts'
import { onDeletionChange } from '../../../store/deleted-workspaces.ts'
import type { Notifications } from '../../../store/notifications.ts'
import { TOKENS_CHANGED } from '../../tokens/tokens.ts'
import type { SeenServer } from '../store.ts'
import type { Feeds } from './feeds.ts'
import { FollowerStream } from './follower-stream.ts'
import type { Presence } from './presence.ts'
import type { TokenOwner } from '../../tokens/store.ts'
import { listValidTokens } from './store.ts'

const MAX_STREAMS_PER_WORKSPACE = 1_000
const MAX_STREAMS = 10_000

/** Heartbeats between two checks of tokens: a minute. */
const BEATS_PER_CHECK = 4

type Open = { stream: FollowerStream; token: TokenOwner; server: SeenServer }

export type FollowerStreams = {
  /** @throws Fault `rate_limited` when there are too many */
  requireRoom(workspaceId: string): void
  /** Streams the list from a cursor on, until the client disconnects, or its token or
   * workspace is deleted. */
  open(
    startResponse: () => ServerResponse,
    request: { token: TokenOwner; server: SeenServer; since: number | null },
  ): Promise<void>
  close(): void
}

/** Creates the streams of this instance, with one heartbeat for all of them. */
export function createFollowerStreams(deps: {
  db: Db
  notifications: Notifications
  feeds: Feeds
  presence: Presence
  log: Logger
}): FollowerStreams {
  const { db, notifications, feeds, presence, log } = deps
  const open = new Set<Open>()
  const counts = new Map<string, number>()
  let beats = 0
  let changes = 0

  function beat(): void {
    for (const { stream } of open) stream.sendHeartbeat()
    beats += 1
    if (beats % BEATS_PER_CHECK === 0) recheck()
  }

  function recheck(): void {
    for (const { token, server } of open) presence.seen(token.workspaceId, server)
    endInvalid().catch((err: unknown) => log.warn({ err }, 'tokens of followers were not checked'))
  }

  async function endInvalid(): Promise<void> {
    const checked = [...open]
    const valid = await listValidTokens(db, [...new Set(checked.map(({ token }) => token.id))])
    for (const { token, stream } of checked) if (!valid.has(token.id)) stream.end()
  }

  const timer = setInterval(beat, HEARTBEAT_MS).unref()
  const onChange = () => {
    changes += 1
    recheck()
  }
  const stops = [
    notifications.on(TOKENS_CHANGED, onChange),
    onDeletionChange(notifications, onChange, onChange),
  ]

  function requireRoom(workspaceId: string): void {
    if ((counts.get(workspaceId) ?? 0) < MAX_STREAMS_PER_WORKSPACE && open.size < MAX_STREAMS)
      return
    const most = MAX_STREAMS_PER_WORKSPACE.toLocaleString('en')
    const sentence = `A workspace can have up to ${most} followers at once. Poll /api/v1/abuse/fleet/list instead.`
    throw new Fault('rate_limited', sentence, { retryAfter: 30 })
  }

  return {
    requireRoom,
    async open(startResponse, { token, server, since }) {
      const { workspaceId } = token
      requireRoom(workspaceId)
      counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + 1)
      try {
        const before = changes
        // An error in the first read is an ordinary error response.
        const first = await feeds.read(workspaceId, since)
        const raw = startResponse()
        const entry = { stream: new FollowerStream(raw, feeds, workspaceId, first), token, server }
        open.add(entry)
        presence.seen(workspaceId, server)
        // The token may have been revoked during the read.
        if (changes !== before) recheck()
        await new Promise((resolve) => raw.once('close', resolve))
        entry.stream.end()
        open.delete(entry)
      } finally {
        const left = (counts.get(workspaceId) ?? 1) - 1
        if (left > 0) counts.set(workspaceId, left)
        else counts.delete(workspaceId)
      }
    },
    close() {
      clearInterval(timer)
      stops.forEach((stop) => stop())
      for (const { stream } of open) stream.end()
    },
  }
}
