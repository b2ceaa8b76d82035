import { describe, expect, it } from 'vitest'
import { ProcessedMessages } from '../../src/migration/engine/journal/processed-messages.ts'

describe('the messages that a folder has processed', () => {
  it('leave out what a listing omitted, unless an earlier run has processed it', () => {
    const processed = new ProcessedMessages({ lastUid: 3, beyond: '6', again: '' })
    expect(processed.start([4, 7, 8])).toEqual([4, 7, 8])
    for (const uid of [4, 7]) processed.add(uid)
    expect(processed.lastUid).toBe(7)
    // 2 and 6 are from the earlier run; 5 was never seen, and is behind `lastUid`.
    processed.addOmitted([2, 5, 6])
    expect([2, 5, 6].map((uid) => processed.has(uid))).toEqual([true, false, true])
    expect(processed.start([2, 4, 5, 6, 7, 8])).toEqual([5, 8])
    expect(processed.toSaved()).toEqual({ lastUid: 7, beyond: '', again: '5' })
  })

  it('get those that arrive meanwhile', () => {
    const processed = new ProcessedMessages({ lastUid: 0, beyond: '', again: '' })
    processed.start([1, 2])
    processed.add(2)
    processed.extend([5, 6])
    expect(processed.left).toBe(3)
    for (const uid of [1, 5]) processed.add(uid)
    expect([processed.lastUid, processed.left]).toEqual([5, 1])
  })
})
