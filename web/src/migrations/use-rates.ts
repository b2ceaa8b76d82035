import { useEffect, useRef, useState } from 'react'
import type { Migration } from './api.ts'

type FolderProgress = Migration['progress']['folderProgress']

/** In messages. */
export type FolderRate = { perSecond: number }

type Sample = { at: number; progress: FolderProgress }

/** The rate is the average of this time: a shorter one would jump, a longer one would lag. */
const WINDOW_MS = 8_000

/** The current rate of each folder that makes progress. */
export function useRates(progress: FolderProgress, isRunning: boolean): Record<string, FolderRate> {
  const samples = useRef<Sample[]>([])
  const [rates, setRates] = useState<Record<string, FolderRate>>({})
  useEffect(() => {
    const now = performance.now()
    const recent = [...samples.current, { at: now, progress }].filter(
      ({ at }) => now - at <= WINDOW_MS,
    )
    samples.current = isRunning ? recent : []
    setRates(isRunning ? ratesOf(recent) : {})
  }, [progress, isRunning])
  return rates
}

function ratesOf(samples: readonly Sample[]): Record<string, FolderRate> {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last || last.at === first.at) return {}
  const seconds = (last.at - first.at) / 1_000
  const moved = Object.entries(last.progress).map(([path, { doneCount }]) => {
    const before = first.progress[path]?.doneCount ?? doneCount
    return [path, { perSecond: (doneCount - before) / seconds }] as const
  })
  return Object.fromEntries(moved.filter(([, { perSecond }]) => perSecond > 0))
}
