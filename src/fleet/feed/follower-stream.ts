import type { EventWriter } from '../../http/events/event-writer.ts'
import type { FeedEvent, Feeds } from './feeds.ts'

/** Streams the list of a workspace to one follower, from a cursor on. */
export class FollowerStream {
  readonly #writer: EventWriter
  readonly #feeds: Feeds
  readonly #workspaceId: string
  #cursor: number
  #unfollow: (() => void) | null = null

  /** @param first what `feeds.read` returned for the follower’s cursor */
  constructor(writer: EventWriter, feeds: Feeds, workspaceId: string, first: FeedEvent) {
    this.#writer = writer
    this.#feeds = feeds
    this.#workspaceId = workspaceId
    this.#cursor = first.cursor
    this.#write(first)
    this.#join()
  }

  end(): void {
    this.#leave()
    this.#writer.end()
  }

  /** Called by the feed. */
  deliver(event: FeedEvent): void {
    const isGap = !event.complete && (event.from ?? 0) > this.#cursor
    if (isGap || this.#writer.isBehind()) void this.#catchUp()
    else if (event.complete || event.cursor > this.#cursor) this.#write(event)
  }

  #write({ cursor, text }: FeedEvent): void {
    this.#cursor = cursor
    this.#writer.send({ id: cursor, name: 'changes', data: text })
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
      await this.#writer.caughtUp()
      const event = await this.#feeds.read(this.#workspaceId, this.#cursor)
      if (this.#writer.ended.aborted) return
      if (event.cursor !== this.#cursor) this.#write(event)
      this.#join()
    } catch {
      // The client reconnects and continues from its cursor.
      this.end()
    }
  }
}
