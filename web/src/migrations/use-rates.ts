import { useEffect, useRef, useState } from 'react'
import type { Migration } from './api.ts'

type FolderProgress = Migration['progress']['folderProgress']

/** Messages. */
export type Rate = { perSecond: number }

type Sample = { at: number; progress: FolderProgress }

/** Milliseconds over which a rate is taken: shorter would jump, longer would lag. */
const WINDOW = 8_000

/** How fast each folder goes, from what was seen of it in the last seconds; without those that stand still. */
export function useRates(progress: FolderProgress, isRunning: boolean): Record<string, Rate> {
  const samples = useRef<Sample[]>([])
  const [rates, setRates] = useState<Record<string, Rate>>({})
  useEffect(() => {
    const now = performance.now()
    const recent = [...samples.current, { at: now, progress }].filter(({ at }) => now - at <= WINDOW)
    samples.current = isRunning ? recent : []
    setRates(isRunning ? ratesOf(recent) : {})
  }, [progress, isRunning])
  return rates
}

export function ratesOf(samples: readonly Sample[]): Record<string, Rate> {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last || last.at === first.at) return {}
  const seconds = (last.at - first.at) / 1_000
  const moved = Object.entries(last.progress).map(([path, { doneCount }]) => {
    const before = first.progress[path]?.doneCount ?? doneCount
    return [path, { perSecond: (doneCount - before) / seconds }] as const
  })
  return Object.fromEntries(moved.filter(([, { perSecond }]) => perSecond > 0))
}
