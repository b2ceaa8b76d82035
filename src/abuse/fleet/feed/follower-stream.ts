import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FeedEvent, Feeds } from './feeds.ts'

/** Streams the list of a workspace to one follower, from a cursor on. */
export class FollowerStream {
  readonly #raw: ServerResponse
  readonly #feeds: Feeds
  readonly #workspaceId: string
  #cursor: number
  #unfollow: (() => void) | null = null

  /** @param first what `feeds.read` returned for the follower’s cursor */
  constructor(raw: ServerResponse, feeds: Feeds, workspaceId: string, first: FeedEvent) {
    this.#raw = raw
    this.#feeds = feeds
    this.#workspaceId = workspaceId
    this.#cursor = first.cursor
    raw.write('retry: 2000\n\n')
    this.#write(first)
    this.#join()
  }

  sendHeartbeat(): void {
    if (!this.#raw.writableNeedDrain) this.#raw.write(':\n\n')
  }

  end(): void {
    this.#leave()
    this.#raw.end()
  }

  /** Called by the feed. */
  deliver(event: FeedEvent): void {
    const isGap = !event.complete && (event.from ?? 0) > this.#cursor
    if (isGap || this.#raw.writableNeedDrain) void this.#catchUp()
    else if (event.complete || event.cursor > this.#cursor) this.#write(event)
  }

  #write({ cursor, text }: FeedEvent): void {
    this.#cursor = cursor
    this.#raw.write(`id: ${cursor}\nevent: changes\ndata: ${text}\n\n`)
  }

  #join(): void {
    this.#unfollow = this.#feeds.follow(this.#workspaceId, this.#cursor, this)
    if (this.#unfollow === null) void this.#catchUp()
  }

  #leave(): void {
    this.#unfollow?.()
    this.#unfollow = null
  }

  /** Reads what was missed together, once the client has read the rest, and joins the feed again. */
  async #catchUp(): Promise<void> {
    this.#leave()
    try {
      if (this.#raw.writableNeedDrain)
        await Promise.race([once(this.#raw, 'drain'), once(this.#raw, 'close')])
      const event = await this.#feeds.read(this.#workspaceId, this.#cursor)
      if (this.#raw.destroyed || this.#raw.writableEnded) return
      if (event.cursor !== this.#cursor) this.#write(event)
      this.#join()
    } catch {
      // The client reconnects and continues from its cursor.
      this.end()
    }
  }
}
