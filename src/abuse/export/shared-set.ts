import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import type { DB } from '../../store/tables.ts'
import { parseNetwork } from '../../protocols/networks/network.ts'
import {
  changeNetworkSet,
  createNetworkSet,
  joinNetworkSets,
  type NetworkSet,
} from '../../protocols/networks/network-set.ts'
import type { Exports } from './exports.ts'
import { findChangesSince, listPublishedAddresses } from './list-export.sql.ts'

export type VersionedSet = { version: number; set: NetworkSet }

type VersionChanges = { version: number; added: string[]; removed: string[] }

/** The addresses of the published list as a set, in memory. */
export type SharedSet = {
  /** The last version that is loaded, while a newer one is loading; undefined before the first. */
  latest(): VersionedSet | undefined
  /** The current version. */
  current(): Promise<VersionedSet>
  /** What changed from a version to the current one; null when that version is too old. */
  changesSince(version: number): Promise<VersionChanges | null>
}

/** Reads the list once, on first use, and afterwards only its changes. */
export function createSharedSet({
  db,
  exports,
  log,
}: {
  db: Kysely<DB>
  exports: Exports
  log: Logger
}): SharedSet {
  let loaded: VersionedSet | undefined
  let loading: Promise<VersionedSet> | undefined
  let recent = { until: -1, since: new Map<number, Promise<VersionChanges | null>>() }

  async function load(): Promise<VersionedSet> {
    const { version } = exports.current()
    const since = loaded && (await readChanges(db, loaded.version, version))
    const set =
      loaded && since
        ? changeNetworkSet(loaded.set, { added: setOf(since.added), removed: setOf(since.removed) })
        : await readSet(db)
    loaded = { version, set }
    return loaded
  }

  function refresh(): Promise<VersionedSet> {
    loading ??= load().finally(() => (loading = undefined))
    return loading
  }

  async function current(): Promise<VersionedSet> {
    const { version } = exports.current()
    let known = loaded
    while (!known || known.version < version) known = await refresh()
    return known
  }

  return {
    current,
    latest() {
      if (loaded && loaded.version < exports.current().version)
        refresh().catch((err: unknown) => log.warn({ err }, 'a new list could not be loaded'))
      return loaded
    },
    async changesSince(version) {
      const { version: until } = exports.current()
      if (version === until) return { version, added: [], removed: [] }
      if (recent.until !== until) recent = { until, since: new Map() }
      const { since } = recent
      const known = since.get(version) ?? readChanges(db, version, until)
      since.set(version, known)
      known.catch(() => since.delete(version))
      return known
    },
  }
}

async function readChanges(
  db: Kysely<DB>,
  version: number,
  until: number,
): Promise<VersionChanges | null> {
  const changes = await findChangesSince(db, version, until)
  if (!changes) return null
  const those = (isListed: boolean) =>
    changes.filter(({ listed }) => listed === isListed).map(({ address }) => address)
  return { version: until, added: those(true), removed: those(false) }
}

async function readSet(db: Kysely<DB>): Promise<NetworkSet> {
  const parts: NetworkSet[] = []
  for await (const addresses of listPublishedAddresses(db)) parts.push(setOf(addresses))
  return joinNetworkSets(parts)
}

/** A set of addresses and networks; other texts are left out. */
export function setOf(texts: readonly string[]): NetworkSet {
  const networks = texts.flatMap((text) => parseNetwork(text) ?? [])
  return createNetworkSet(networks.map((network) => ({ ...network, since: 0 })))
}
