import type { MigrationProgress } from '../engine/progress/progress.ts'

/**
 * What a migration copied over time, in steps of equal length; steps without a report are missing.
 * Each point: its step, messages and bytes copied in it, and whether a server asked us to wait or a
 * connection was lost meanwhile.
 */
export type Throughput = {
  /** Milliseconds since 1970. */
  startedAt: number
  stepSeconds: number
  points: ThroughputPoint[]
}

type ThroughputPoint = [
  step: number,
  messages: number,
  bytes: number,
  throttled: 0 | 1,
  lost: 0 | 1,
]

/** Points of a series. When there are more, two steps become one of double length. */
export const MAX_THROUGHPUT_POINTS = 240

type Progressed = Pick<MigrationProgress, 'messagesDone' | 'bytesDone' | 'throttledUntil'>

/** Adds the reports of a run to the series of a migration. */
export type ThroughputRecorder = {
  record(progress: Progressed): void
  connectionLost(): void
  /** The series if it has changed since the last call, else null. */
  changed(): Throughput | null
  /** The whole series. */
  series(): Throughput
}

/**
 * Creates a recorder.
 * @param before the series of earlier runs
 * @param clock milliseconds since 1970
 */
export function createThroughputRecorder(
  before: Throughput | null,
  clock: () => number = Date.now,
): ThroughputRecorder {
  const series = structuredClone(before) ?? { startedAt: clock(), stepSeconds: 1, points: [] }
  let last: Progressed | null = null
  let isChanged = false

  function pointNow(): ThroughputPoint {
    isChanged = true
    const known = series.points.at(-1)
    // A clock that was set back adds to the last point.
    const step = Math.max(stepAt(series, clock()), known?.[0] ?? 0)
    if (known?.[0] === step) return known
    const point: ThroughputPoint = [step, 0, 0, 0, 0]
    series.points.push(point)
    return thin(series, point)
  }

  return {
    record(progress) {
      const isFirst = last === null
      const earlier = last ?? progress
      last = progress
      const messages = Math.max(0, progress.messagesDone - earlier.messagesDone)
      const bytes = Math.max(0, progress.bytesDone - earlier.bytesDone)
      const isThrottled = progress.throttledUntil !== null
      // The first report has the progress of earlier runs, and says only that this one has begun.
      if (messages + bytes === 0 && !isThrottled && !isFirst) return
      const point = pointNow()
      point[1] += messages
      point[2] += bytes
      if (isThrottled) point[3] = 1
    },
    connectionLost() {
      pointNow()[4] = 1
    },
    changed() {
      if (!isChanged) return null
      isChanged = false
      return series
    },
    series: () => series,
  }
}

function stepAt({ startedAt, stepSeconds }: Throughput, now: number): number {
  return Math.max(0, Math.floor((now - startedAt) / 1_000 / stepSeconds))
}

/** Joins steps until the series is within its bounds. @returns the point that contains `latest` */
function thin(series: Throughput, latest: ThroughputPoint): ThroughputPoint {
  while (series.points.length > MAX_THROUGHPUT_POINTS) {
    series.stepSeconds *= 2
    const joined: ThroughputPoint[] = []
    for (const [step, messages, bytes, throttled, lost] of series.points) {
      const known = joined.at(-1)
      if (known?.[0] === Math.floor(step / 2)) {
        known[1] += messages
        known[2] += bytes
        known[3] = known[3] || throttled
        known[4] = known[4] || lost
      } else joined.push([Math.floor(step / 2), messages, bytes, throttled, lost])
    }
    series.points = joined
  }
  return series.points.at(-1) ?? latest
}
