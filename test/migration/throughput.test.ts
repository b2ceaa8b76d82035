import { describe, expect, it } from 'vitest'
import {
  createThroughputRecorder,
  MAX_THROUGHPUT_POINTS,
} from '../../src/migration/run/throughput.ts'

const progress = (messagesDone: number, throttledUntil: string | null = null) => ({
  messagesDone,
  bytesDone: messagesDone * 1_000,
  throttledUntil,
})

describe('the throughput of a migration', () => {
  it('is what was copied in each second, without progress of earlier runs', () => {
    let now = 5_000
    const recorder = createThroughputRecorder(null, () => now)
    recorder.record(progress(700))
    now += 1_000
    recorder.record(progress(710))
    now += 400
    recorder.record(progress(715))
    now += 3_000
    recorder.record(progress(717))
    expect(recorder.series()).toEqual({
      startedAt: 5_000,
      stepSeconds: 1,
      points: [
        [0, 0, 0, 0, 0],
        [1, 15, 15_000, 0, 0],
        [4, 2, 2_000, 0, 0],
      ],
    })
  })

  it('marks when a server asked to wait, and when a connection was lost', () => {
    let now = 0
    const recorder = createThroughputRecorder(null, () => now)
    recorder.record(progress(0))
    now = 2_000
    recorder.record(progress(0, '2026-11-24T12:00:00Z'))
    now = 3_000
    recorder.connectionLost()
    expect(recorder.series().points).toEqual([
      [0, 0, 0, 0, 0],
      [2, 0, 0, 1, 0],
      [3, 0, 0, 0, 1],
    ])
  })

  it('stays within its bounds, and loses no message', () => {
    let now = 0
    const recorder = createThroughputRecorder(null, () => now)
    for (let second = 0; second < 5_000; second++) {
      now = second * 1_000
      recorder.record(progress(second * 3))
    }
    const { points, stepSeconds } = recorder.series()
    expect(points.length).toBeLessThanOrEqual(MAX_THROUGHPUT_POINTS)
    expect(stepSeconds).toBe(32)
    expect(points.reduce((sum, [, messages]) => sum + messages, 0)).toBe(4_999 * 3)
    expect(points.map(([step]) => step)).toEqual(
      points.map(([step]) => step).toSorted((a, b) => a - b),
    )
  })

  it('continues the series of an earlier run, and leaves a gap between them', () => {
    let now = 0
    const first = createThroughputRecorder(null, () => now)
    first.record(progress(0))
    now = 60_000
    const second = createThroughputRecorder(first.series(), () => now)
    second.record(progress(10))
    now = 61_000
    second.record(progress(14))
    expect(second.series().points).toEqual([
      [0, 0, 0, 0, 0],
      [60, 0, 0, 0, 0],
      [61, 4, 4_000, 0, 0],
    ])
  })

  it('is written only when it has changed', () => {
    const recorder = createThroughputRecorder(null, () => 0)
    recorder.record(progress(1))
    expect(recorder.changed()).not.toBeNull()
    recorder.record(progress(1))
    expect(recorder.changed()).toBeNull()
  })
})
