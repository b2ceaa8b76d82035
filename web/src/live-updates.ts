import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { followChanges, type ChangeHandler, type StreamState } from './change-events.ts'
import { followOwnChanges } from './api.ts'
import { accountQuery } from './queries.ts'
import { refreshChanged, refreshProblems } from './refresh-queries.ts'
import { useIsSessionExpired } from './session.ts'
import { chosenWorkspace } from './workspace-choice.ts'

const handlers = new Set<ChangeHandler>()
const watchers = new Set<() => void>()
let link: StreamState = 'connecting'

/** Time between two full refreshes, in case an event is lost. */
const FULL_REFRESH_MS = 300_000

function setLink(now: StreamState): void {
  link = now
  watchers.forEach((watcher) => watcher())
}

/** Keeps all shown data up to date while there is a session. Called by the frame, once per tab. */
export function useLiveTab(): void {
  const queries = useQueryClient()
  const isExpired = useIsSessionExpired()
  useEffect(() => {
    if (isExpired) return setLink('broken')
    const account = queries.getQueryData(accountQuery.queryKey)
    if (!account) return undefined
    const accountId = account.id
    const workspaceId = chosenWorkspace() ?? account.workspace.id
    const onChange: ChangeHandler = (change) => {
      refreshChanged(queries, change)
      handlers.forEach((handler) => handler(change))
    }
    // Asks for a new sign-in if the session has ended.
    const onRejected = () => queries.fetchQuery({ ...accountQuery, staleTime: 0 }).catch(() => null)
    setLink('connecting')
    const timer = setInterval(() => document.hidden || onChange(null), FULL_REFRESH_MS)
    // The screens refresh what they change, and not what others show.
    const stopOwn = followOwnChanges(() => {
      if (link !== 'live') refreshProblems(queries)
    })
    const stop = followChanges({
      accountId,
      workspaceId,
      onChange,
      onLink: setLink,
      onRejected: () => void onRejected(),
    })
    return () => {
      clearInterval(timer)
      stopOwn()
      stop()
    }
  }, [queries, isExpired])
}

/** Whether the screen receives live updates. */
export function useStreamState(): StreamState {
  return useSyncExternalStore(watch, () => link)
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

/**
 * Calls the handler for every change while the component is mounted. Queries are refreshed without
 * it.
 */
export function useChanges(onChange: ChangeHandler): void {
  const current = useEffectEvent(onChange)
  useEffect(() => {
    const handler: ChangeHandler = (change) => current(change)
    handlers.add(handler)
    return () => void handlers.delete(handler)
  }, [])
}
