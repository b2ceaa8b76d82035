import { Fault } from '../../errors.ts'
import { untilEnded, type EventWriter } from '../../http/events/event-writer.ts'
import type { Logger } from '../../log.ts'
import type { Db } from '../../store/database.ts'
import { onDeletionChange } from '../../store/deleted-workspaces.ts'
import type { Notifications } from '../../store/notifications.ts'
import { TOKENS_CHANGED } from '../../abuse/tokens/report-tokens.ts'
import type { SeenServer } from '../fleet.sql.ts'
import type { Feeds } from './feeds.ts'
import { FollowerStream } from './follower-stream.ts'
import type { Presence } from './presence.ts'
import type { TokenOwner } from '../../abuse/tokens/report-tokens.sql.ts'
import { listValidTokens } from './fleet-feed.sql.ts'
import { MINUTE_MS } from '../../time.ts'

const MAX_STREAMS_PER_ACCOUNT = 1_000
const MAX_STREAMS = 10_000

/** Milliseconds between two checks of tokens. */
const CHECK_INTERVAL_MS = MINUTE_MS

type Open = { stream: FollowerStream; token: TokenOwner; server: SeenServer }

export type FollowerStreams = {
  /** @throws Fault `rate_limited` when there are too many */
  requireRoom(token: TokenOwner): void
  /** Streams the list from a cursor on, until the client disconnects, or its token or
   * workspace is deleted. */
  open(
    startResponse: () => EventWriter,
    request: { token: TokenOwner; server: SeenServer; since: number | null },
  ): Promise<void>
  close(): void
}

/** Creates the streams of this instance. */
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
  let changes = 0

  function recheck(): void {
    for (const { token, server } of open) presence.seen(token.workspaceId, server)
    endInvalid().catch((err: unknown) => log.warn({ err }, 'tokens of followers were not checked'))
  }

  async function endInvalid(): Promise<void> {
    const checked = [...open]
    const valid = await listValidTokens(db, [...new Set(checked.map(({ token }) => token.id))])
    for (const { token, stream } of checked) if (!valid.has(token.id)) stream.end()
  }

  const timer = setInterval(recheck, CHECK_INTERVAL_MS).unref()
  const onChange = () => {
    changes += 1
    recheck()
  }
  const stops = [
    notifications.on(TOKENS_CHANGED, onChange),
    onDeletionChange(notifications, onChange, onChange),
  ]

  function requireRoom({ responsibleId }: TokenOwner): void {
    if ((counts.get(responsibleId) ?? 0) < MAX_STREAMS_PER_ACCOUNT && open.size < MAX_STREAMS)
      return
    const most = MAX_STREAMS_PER_ACCOUNT.toLocaleString('en')
    const sentence = `An account can have up to ${most} followers at once. Poll /api/v1/abuse/fleet/list instead.`
    throw new Fault('rate_limited', sentence, { retryAfter: 30 })
  }

  return {
    requireRoom,
    async open(startResponse, { token, server, since }) {
      const { workspaceId, responsibleId } = token
      requireRoom(token)
      counts.set(responsibleId, (counts.get(responsibleId) ?? 0) + 1)
      try {
        const before = changes
        // An error in the first read is an ordinary error response.
        const first = await feeds.read(workspaceId, since)
        const writer = startResponse()
        const stream = new FollowerStream(writer, feeds, workspaceId, first)
        const entry = { stream, token, server }
        open.add(entry)
        presence.seen(workspaceId, server)
        // The token may have been revoked during the read.
        if (changes !== before) recheck()
        await untilEnded(writer)
        stream.end()
        open.delete(entry)
      } finally {
        const left = (counts.get(responsibleId) ?? 1) - 1
        if (left > 0) counts.set(responsibleId, left)
        else counts.delete(responsibleId)
      }
    },
    close() {
      clearInterval(timer)
      stops.forEach((stop) => stop())
      for (const { stream } of open) stream.end()
    },
  }
}
