import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { followChanges, type Hear, type Link } from './events.ts'
import { accountQuery } from './queries.ts'
import { renewChanged } from './renew.ts'

const hearers = new Set<Hear>()
const watchers = new Set<() => void>()
let link: Link = 'connecting'

/** Milliseconds between two looks at everything, should a word ever get lost. */
const IN_ANY_CASE = 300_000

function setLink(now: Link): void {
  link = now
  watchers.forEach((watcher) => watcher())
}

/** Keeps all that is shown as the service has it: the frame's business, once a tab. */
export function useLiveTab(): void {
  const queries = useQueryClient()
  const router = useRouter()
  useEffect(() => {
    const hear: Hear = (change) => {
      renewChanged(queries, change)
      hearers.forEach((hearer) => hearer(change))
    }
    const onRefused = async () => {
      const account = await queries.fetchQuery({ ...accountQuery, staleTime: 0 }).catch(() => undefined)
      if (account === null) await router.invalidate()
    }
    setLink('connecting')
    const timer = setInterval(() => document.hidden || hear(null), IN_ANY_CASE)
    const stop = followChanges({ hear, onLink: setLink, onRefused: () => void onRefused() })
    return () => {
      clearInterval(timer)
      stop()
    }
  }, [queries, router])
}

/** Whether what is shown follows what happens. */
export function useLink(): Link {
  return useSyncExternalStore(watch, () => link)
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

/** Hears what changes as long as the component is shown; what is fetched by a query is renewed without. */
export function useChanges(hear: Hear): void {
  const current = useEffectEvent(hear)
  useEffect(() => {
    const hearer: Hear = (change) => current(change)
    hearers.add(hearer)
    return () => void hearers.delete(hearer)
  }, [])
}
