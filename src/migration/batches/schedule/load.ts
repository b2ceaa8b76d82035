import type { Candidate, OpenMigration, Saturated } from './batch-schedule.sql.ts'

/** The mailboxes in progress at each host and of each account. */
export type Load = {
  /** Takes a place for a mailbox; false when a host or its account is full. */
  take(candidate: Candidate): boolean
  release(candidate: Candidate): void
  saturated(): Saturated
}

/** @param perAccount mailboxes of batches of one account in progress */
export function createLoad(open: readonly OpenMigration[], perAccount: number): Load {
  const [sources, destinations, accounts] = [createCounter(), createCounter(), createCounter()]
  for (const { source, destination, responsibleId, batchId } of open) {
    sources.add(source, 1)
    destinations.add(destination, 1)
    if (batchId !== null) accounts.add(responsibleId, 1)
  }
  const full = {
    sources: new Set<string>(),
    destinations: new Set<string>(),
    accounts: new Set<string>(),
  }
  function change({ sourceHost, destinationHost, responsibleId }: Candidate, by: 1 | -1): void {
    sources.add(sourceHost, by)
    destinations.add(destinationHost, by)
    accounts.add(responsibleId, by)
  }
  return {
    take(candidate) {
      const { batchId, sourceHost, destinationHost, responsibleId } = candidate
      if (accounts.of(responsibleId) >= perAccount) full.accounts.add(responsibleId)
      if (sources.of(sourceHost) >= candidate.sourceLimit)
        full.sources.add(`${batchId} ${sourceHost}`)
      if (destinations.of(destinationHost) >= candidate.destinationLimit)
        full.destinations.add(`${batchId} ${destinationHost}`)
      const isFull =
        full.accounts.has(responsibleId) ||
        full.sources.has(`${batchId} ${sourceHost}`) ||
        full.destinations.has(`${batchId} ${destinationHost}`)
      if (!isFull) change(candidate, 1)
      return !isFull
    },
    release: (candidate) => change(candidate, -1),
    saturated: () => ({
      sources: [...full.sources],
      destinations: [...full.destinations],
      accounts: [...full.accounts],
    }),
  }
}

function createCounter() {
  const counts = new Map<string, number>()
  const of = (key: string) => counts.get(key) ?? 0
  return { of, add: (key: string, by: number) => void counts.set(key, of(key) + by) }
}
