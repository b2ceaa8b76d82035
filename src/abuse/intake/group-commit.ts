import { Fault } from '../../errors.ts'

export type GroupCommit<In, Out> = {
  /** Resolves when what was given is committed, with what became of it. */
  submit(item: In): Promise<Out>
  /** Waits for what was submitted. */
  close(): Promise<void>
}

type Options<In, Out> = {
  /** Stores a group durably and tells for each item what became of it, in order. */
  commit: (group: In[]) => Promise<Out[]>
  /** How much an item adds to a group, and the most of a group, though one item always fits. */
  sizeOf: (item: In) => number
  most: number
  /** How much may wait before more is refused. */
  patience: number
}

type Waiting<In, Out> = { item: In; size: number; resolve: (out: Out) => void; reject: (error: unknown) => void }

/** Commits together what comes in while a commit is under way: the disk is waited for once for all of them. */
export function createGroupCommit<In, Out>({ commit, sizeOf, most, patience }: Options<In, Out>): GroupCommit<In, Out> {
  let waiting: Waiting<In, Out>[] = []
  let waitingSize = 0
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    // A moment for those who arrive together with the first.
    await new Promise(setImmediate)
    while (waiting.length > 0) await settle(takeGroup())
    running = undefined
  }

  function takeGroup(): Waiting<In, Out>[] {
    let [count, size] = [0, 0]
    for (const entry of waiting) {
      if (count > 0 && size + entry.size > most) break
      count += 1
      size += entry.size
    }
    waitingSize -= size
    return waiting.splice(0, count)
  }

  async function settle(group: Waiting<In, Out>[]): Promise<void> {
    try {
      const outcomes = await commit(group.map(({ item }) => item))
      group.forEach(({ resolve }, index) => resolve(outcomes[index] as Out))
    } catch (error) {
      group.forEach(({ reject }) => reject(error))
    }
  }

  return {
    submit(item) {
      const size = sizeOf(item)
      if (waitingSize + size > patience)
        return Promise.reject(new Fault('unavailable', 'More comes in than can be stored.', { retryAfter: 5 }))
      waitingSize += size
      return new Promise((resolve, reject) => {
        waiting.push({ item, size, resolve, reject })
        running ??= run()
      })
    },
    async close() {
      await running
    },
  }
}
