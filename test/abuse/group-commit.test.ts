import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createKeyedGroupCommit } from '../../src/abuse/intake/report-commits.ts'

/** Waits for turns of the event loop. A commit begins in the turn after its first item. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await nextTurn()
}

/** Items are their keys. A commit lasts until `gate`, and its items are recorded. */
function open({ most = 100, patience = 1_000, gate = (): Promise<unknown> => turns(3) } = {}) {
  const groups: string[][] = []
  const underWay = new Set<string[]>()
  const commits = createKeyedGroupCommit<string[], string>({
    async commit(group) {
      const keys = group.flat()
      for (const other of underWay) expect(keys.filter((key) => other.includes(key))).toEqual([])
      underWay.add(keys)
      groups.push(keys)
      await gate()
      underWay.delete(keys)
      return group.map((item) => item.join())
    },
    sizeOf: (item) => item.length,
    keysOf: (item) => item,
    most,
    patience,
  })
  return { ...commits, groups }
}

describe('commits in groups', () => {
  it('combine items that arrive during two commits, and return each item’s own result', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const commits = open({ gate: () => promise })
    const answers = [commits.submit(['a'])]
    await expect.poll(() => commits.groups).toEqual([['a']])
    answers.push(commits.submit(['b']), commits.submit(['c']))
    await expect.poll(() => commits.groups).toEqual([['a'], ['b', 'c']])
    answers.push(...['d', 'e', 'f'].map((item) => commits.submit([item])))
    await turns(10)
    expect(commits.groups).toHaveLength(2)
    resolve()
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    expect(commits.groups).toEqual([['a'], ['b', 'c'], ['d', 'e', 'f']])
  })

  it('never share a key, and keep the order of items with one key', async () => {
    const commits = open()
    const order: number[] = []
    const submit = (n: number) => commits.submit(['same', `own-${n}`]).then(() => order.push(n))
    const submitted: Promise<unknown>[] = []
    for (let n = 0; n < 200; n++) {
      submitted.push(submit(n))
      if (n % 4 === 3) await nextTurn()
    }
    await Promise.all(submitted)
    expect(order).toHaveLength(200)
    expect(commits.groups.length).toBeGreaterThan(10)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  })

  it('let no item overtake one that waits for another key', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const commits = open({ gate: () => promise })
    const answers = [commits.submit(['a'])]
    await turns(5)
    answers.push(commits.submit(['a', 'b']), commits.submit(['b']))
    await turns(5)
    expect(commits.groups).toEqual([['a']])
    resolve()
    expect(await Promise.all(answers)).toEqual(['a', 'a,b', 'b'])
    expect(commits.groups).toEqual([['a'], ['a', 'b', 'b']])
  })

  it('do not starve an item with many keys', async () => {
    const commits = open()
    const keys = Array.from({ length: 20 }, (_, n) => `key-${n}`)
    const over = new AbortController()
    // Out of step, so that there is always one that is being committed.
    const traffic = keys.map(async (key, n) => {
      while (!over.signal.aborted) {
        await commits.submit([key])
        await turns(n % 4)
      }
    })
    await turns(20)
    const before = commits.groups.length
    void commits.submit(keys).finally(() => over.abort())
    while (!over.signal.aborted && commits.groups.length < before + 100) await nextTurn()
    const { aborted: isCommitted } = over.signal
    over.abort()
    expect(before).toBeGreaterThan(0)
    expect(isCommitted).toBe(true)
    await Promise.all(traffic)
  })

  it('reject items when the queue is full, and accept more when it has drained', async () => {
    const commits = open({ most: 1, patience: 3 })
    const answers = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((item) => commits.submit([item])),
    )
    expect(answers.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
    ])
    expect(await commits.submit(['e'])).toContain('e')
  })

  it('are waited for when they end', async () => {
    const commits = open({ most: 1 })
    const answers = Promise.all(['a', 'b', 'c'].map((item) => commits.submit([item])))
    await commits.close()
    expect(commits.groups).toHaveLength(3)
    await answers
  })
})
