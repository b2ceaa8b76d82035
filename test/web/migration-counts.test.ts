import { describe, expect, it } from 'vitest'
import { countMessages } from '../../web/src/migrations/status.ts'

const counts = (
  messagesDone: number,
  skippedByDedup: number,
  errors: { uid?: number }[],
  errorCount = errors.length,
) => countMessages({ errorCount, progress: { messagesDone, skippedByDedup, errors } })

describe('the messages of a migration', () => {
  it('that failed never count as copied', () => {
    expect(counts(100, 0, [{ uid: 7 }, { uid: 9 }])).toEqual({
      copied: 98,
      alreadyThere: 0,
      failed: 2,
    })
    expect(counts(100, 30, [{ uid: 7 }])).toEqual({ copied: 69, alreadyThere: 30, failed: 1 })
  })

  it('do not include errors of folders, or of the whole migration', () => {
    expect(counts(100, 0, [{}, { uid: 7 }])).toEqual({ copied: 99, alreadyThere: 0, failed: 1 })
  })

  it('include failures beyond the listed ones, and never go below zero', () => {
    expect(counts(5_000, 0, [{ uid: 1 }], 1_200)).toMatchObject({ copied: 3_800, failed: 1_200 })
    expect(counts(2, 5, [{ uid: 1 }, { uid: 2 }, { uid: 3 }])).toEqual({
      copied: 0,
      alreadyThere: 0,
      failed: 2,
    })
  })
})
