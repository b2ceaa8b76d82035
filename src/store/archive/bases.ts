import type { Embedded } from '../embedded.ts'
import { packInto } from '../backup.ts'
import {
  baseHeadKey,
  baseKey,
  chainHeadKey,
  listAllBases,
  listChains,
  listSegments,
  walKey,
  type Base,
  type ChainBase,
} from './chain.ts'
import type { ObjectStore } from './object-store.ts'
import { DAY_MS } from '../../time.ts'

const baseId = (now: Date) => now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '_')

/** Makes a base backup in the archive. */
export async function writeBase(
  store: ObjectStore,
  chain: string,
  server: Pick<Embedded, 'adminUrl' | 'folder'>,
  signal?: AbortSignal,
): Promise<ChainBase> {
  const id = baseId(new Date())
  const { saved, startedAt, finishedAt, ...facts } = await packInto(
    server,
    (packed) => store.write(baseKey(chain, id), packed),
    signal,
  )
  const base: Base = {
    format: 1,
    id,
    ...facts,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt.toISOString(),
    bytes: saved,
  }
  await store.create(baseHeadKey(chain, id), Buffer.from(`${JSON.stringify(base, null, 2)}\n`))
  return { ...base, chain }
}

/**
 * Removes base backups that are not needed to restore every moment of the last days, incomplete
 * ones, and WAL that no base backup needs. The newest base backup always stays.
 * @param chain the chain in progress
 */
export async function expire(
  store: ObjectStore,
  chain: string,
  keptDays: number,
  now: Date,
): Promise<{ bases: number; segments: number }> {
  const since = new Date(now.getTime() - keptDays * DAY_MS).toISOString()
  const bases = await listAllBases(store)
  // The first moment of the kept days is restored from the newest base backup before it.
  const first = Math.max(
    0,
    bases.findLastIndex(({ finishedAt }) => finishedAt <= since),
  )
  const kept = bases.slice(first)
  const removed = { bases: 0, segments: 0 }
  for (const one of await listChains(store)) {
    const ofChain = kept.filter((base) => base.chain === one)
    removed.bases += await removeBases(store, one, ofChain, bases, now)
    // Without a base backup its WAL restores nothing; the newest chain has not made one yet.
    const [oldest] = ofChain
    if (!oldest && one >= chain) continue
    removed.segments += await removeSegments(store, one, oldest?.startWal ?? null)
    if (!oldest) await store.remove([chainHeadKey(one)])
  }
  return removed
}

async function removeBases(
  store: ObjectStore,
  chain: string,
  kept: Base[],
  complete: Base[],
  now: Date,
): Promise<number> {
  const keysOf = ({ id }: { id: string }) => [baseKey(chain, id), baseHeadKey(chain, id)]
  const wanted = new Set(kept.flatMap(keysOf))
  const known = new Set(complete.flatMap(keysOf))
  // A base backup without a description is incomplete, or is being made now.
  const newest = baseKey(chain, baseId(new Date(now.getTime() - DAY_MS)))
  const keys = (await store.list(`${chain}/base/`))
    .map(({ key }) => key)
    .filter((key) => !wanted.has(key) && (known.has(key) || key < newest))
  // The description first: without it, the backup is incomplete.
  await store.remove(keys.toSorted((one, other) => rank(one) - rank(other)))
  return keys.filter((key) => key.endsWith('.json')).length
}

const rank = (key: string) => (key.endsWith('.json') ? 0 : 1)

async function removeSegments(
  store: ObjectStore,
  chain: string,
  before: string | null,
): Promise<number> {
  const names = (await listSegments(store, chain)).filter(
    (name) => before === null || name < before,
  )
  await store.remove(names.map((name) => walKey(chain, name)))
  return names.length
}
