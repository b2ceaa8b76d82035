import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { followChanges, type ChangeHandler, type StreamState } from './change-events.ts'
import { accountQuery } from './queries.ts'
import { refreshChanged } from './refresh-queries.ts'

const hearers = new Set<ChangeHandler>()
const watchers = new Set<() => void>()
let link: StreamState = 'connecting'

/** Milliseconds between two looks at everything, should a word ever get lost. */
const FULL_REFRESH_MS = 300_000

function setLink(now: StreamState): void {
  link = now
  watchers.forEach((watcher) => watcher())
}

/** Keeps all that is shown as the service has it: the frame's business, once a tab. */
export function useLiveTab(): void {
  const queries = useQueryClient()
  const router = useRouter()
  useEffect(() => {
    const hear: ChangeHandler = (change) => {
      refreshChanged(queries, change)
      hearers.forEach((hearer) => hearer(change))
    }
    const onRefused = async () => {
      const account = await queries.fetchQuery({ ...accountQuery, staleTime: 0 }).catch(() => undefined)
      if (account === null) await router.invalidate()
    }
    setLink('connecting')
    const timer = setInterval(() => document.hidden || hear(null), FULL_REFRESH_MS)
    const stop = followChanges({ hear, onLink: setLink, onRefused: () => void onRefused() })
    return () => {
      clearInterval(timer)
      stop()
    }
  }, [queries, router])
}

/** Whether what is shown follows what happens. */
export function useStreamState(): StreamState {
  return useSyncExternalStore(watch, () => link)
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

/** Hears what changes as long as the component is shown; what is fetched by a query is renewed without. */
export function useChanges(hear: ChangeHandler): void {
  const current = useEffectEvent(hear)
  useEffect(() => {
    const hearer: ChangeHandler = (change) => current(change)
    hearers.add(hearer)
    return () => void hearers.delete(hearer)
  }, [])
}
