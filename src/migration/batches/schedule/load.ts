import type { Candidate, Saturated } from './store.ts'

/** A migration that waits for a worker or runs. */
type OpenMigration = {
  workspaceId: string
  batchId: string | null
  source: string
  destination: string
}

/** The mailboxes in progress at each host and of each workspace. */
export type Load = {
  /** Takes a place for a mailbox; false when a host or its workspace is full. */
  take(candidate: Candidate): boolean
  release(candidate: Candidate): void
  saturated(): Saturated
}

/** @param perWorkspace mailboxes of batches of one workspace in progress */
export function createLoad(open: readonly OpenMigration[], perWorkspace: number): Load {
  const [sources, destinations, workspaces] = [createCounter(), createCounter(), createCounter()]
  for (const { source, destination, workspaceId, batchId } of open) {
    sources.add(source, 1)
    destinations.add(destination, 1)
    if (batchId !== null) workspaces.add(workspaceId, 1)
  }
  const full = {
    sources: new Set<string>(),
    destinations: new Set<string>(),
    workspaces: new Set<string>(),
  }
  function change({ sourceHost, destinationHost, workspaceId }: Candidate, by: 1 | -1): void {
    sources.add(sourceHost, by)
    destinations.add(destinationHost, by)
    workspaces.add(workspaceId, by)
  }
  return {
    take(candidate) {
      const { batchId, sourceHost, destinationHost, workspaceId } = candidate
      if (workspaces.of(workspaceId) >= perWorkspace) full.workspaces.add(workspaceId)
      if (sources.of(sourceHost) >= candidate.sourceLimit)
        full.sources.add(`${batchId} ${sourceHost}`)
      if (destinations.of(destinationHost) >= candidate.destinationLimit)
        full.destinations.add(`${batchId} ${destinationHost}`)
      const isFull =
        full.workspaces.has(workspaceId) ||
        full.sources.has(`${batchId} ${sourceHost}`) ||
        full.destinations.has(`${batchId} ${destinationHost}`)
      if (!isFull) change(candidate, 1)
      return !isFull
    },
    release: (candidate) => change(candidate, -1),
    saturated: () => ({
      sources: [...full.sources],
      destinations: [...full.destinations],
      workspaces: [...full.workspaces],
    }),
  }
}

function createCounter() {
  const counts = new Map<string, number>()
  const of = (key: string) => counts.get(key) ?? 0
  return { of, add: (key: string, by: number) => void counts.set(key, of(key) + by) }
}
