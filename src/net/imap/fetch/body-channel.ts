export type BodyChannel<T> = AsyncIterable<T> & {
  push(item: T): void
  /** Ends the channel: no more items follow. */
  end(): void
  /** Delivers the items already pushed, then the iteration throws. */
  fail(error: Error): void
  /** The consumer has stopped: items are dropped from now on. */
  discard(): void
}

type ChannelOptions<T> = {
  weigh: (item: T) => number
  /** The weight above which the producer is held. */
  limit: number
  hold: () => void
  release: () => void
}

/** Passes items from a producer that cannot wait, but can be held, to one slower consumer. */
export function createBodyChannel<T>({
  weigh,
  limit,
  hold,
  release,
}: ChannelOptions<T>): BodyChannel<T> {
  const items: T[] = []
  let weight = 0
  let isHolding = false
  let isDiscarded = false
  let ending: { error: Error | null } | undefined
  let wake: (() => void) | undefined

  function updateHold(): void {
    const shouldHold = weight > limit && !isDiscarded && ending === undefined
    if (shouldHold === isHolding) return
    isHolding = shouldHold
    if (isHolding) hold()
    else release()
  }

  function wakeConsumer(): void {
    wake?.()
    wake = undefined
    updateHold()
  }

  function finish(error: Error | null): void {
    ending ??= { error }
    wakeConsumer()
  }

  async function* iterate(): AsyncGenerator<T> {
    for (;;) {
      const item = items.shift()
      if (item !== undefined) {
        weight -= weigh(item)
        updateHold()
        yield item
      } else if (ending) {
        if (ending.error) throw ending.error
        return
      } else await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  return {
    push(item) {
      if (isDiscarded || ending) return
      items.push(item)
      weight += weigh(item)
      wakeConsumer()
    },
    end: () => finish(null),
    fail: finish,
    discard() {
      isDiscarded = true
      items.length = 0
      weight = 0
      wakeConsumer()
    },
    [Symbol.asyncIterator]: iterate,
  }
}
