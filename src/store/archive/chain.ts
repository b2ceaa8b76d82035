import { randomBytes } from 'node:crypto'
import { json } from 'node:stream/consumers'
import { Fault } from '../../errors.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * A chain is an unbroken WAL with its base backups, in a folder of its own. A new one begins
 * whenever the WAL before is missing: at first, after a restore, an upgrade, or a loss of WAL. So
 * the archive of a database never mixes with that of a copy of it.
 */
export type ChainHead = { format: 1; startedAt: string; postgres: number }

/** A complete base backup. Times are those of the database, in ISO 8601. */
export type Base = {
  format: 1
  /** Its name within its chain. */
  id: string
  startedAt: string
  /** The first moment that can be restored from it. */
  finishedAt: string
  /** Major version of PostgreSQL. */
  postgres: number
  /** The first and the last WAL segment that it needs. */
  startWal: string
  endWal: string
  bytes: number
}

export type ChainBase = Base & { chain: string }

export const newChainId = (now: Date): string =>
  `${now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '_')}_${randomBytes(4).toString('hex')}`

const CHAIN_ID = /^\d{8}_\d{6}_[0-9a-f]{8}$/

export const chainHeadKey = (chain: string) => `${chain}/chain.json`
export const walKey = (chain: string, segment: string) => `${chain}/wal/${segment}.zst`
export const baseKey = (chain: string, id: string) => `${chain}/base/${id}.tar.gz`
/** Written after the base backup: without it, the backup is incomplete. */
export const baseHeadKey = (chain: string, id: string) => `${chain}/base/${id}.json`

/** Names of all chains, the oldest first. */
export async function listChains(store: ObjectStore): Promise<string[]> {
  return (await store.listFolders()).filter((name) => CHAIN_ID.test(name))
}

/** The complete base backups of a chain, the oldest first. */
export async function listBases(store: ObjectStore, chain: string): Promise<ChainBase[]> {
  const keys = (await store.list(`${chain}/base/`)).map(({ key }) => key)
  const bases: ChainBase[] = []
  for (const key of keys.filter((one) => one.endsWith('.json'))) {
    const base = (await json(await store.read(key))) as Base
    if (base.format === 1 && keys.includes(baseKey(chain, base.id))) bases.push({ ...base, chain })
  }
  return bases
}

/** All complete base backups, the oldest first. */
export async function listAllBases(store: ObjectStore): Promise<ChainBase[]> {
  const bases: ChainBase[] = []
  for (const chain of await listChains(store)) bases.push(...(await listBases(store, chain)))
  return bases.toSorted((one, other) => (one.finishedAt < other.finishedAt ? -1 : 1))
}

/** Names of the archived WAL segments of a chain, in order. */
export async function listSegments(store: ObjectStore, chain: string): Promise<string[]> {
  const names = (await store.list(`${chain}/wal/`)).map(({ key }) => key.slice(-28, -4))
  return names.filter((name) => /^[0-9A-F]{24}$/.test(name))
}

/**
 * The newest base backup from which a moment can be restored; null means the newest moment.
 * @throws Fault `not_found` that names the first moment that can be restored
 */
export async function chooseBase(store: ObjectStore, at: Date | null): Promise<ChainBase> {
  const bases = await listAllBases(store)
  const base = bases.findLast(({ finishedAt }) => at === null || new Date(finishedAt) <= at)
  if (base) return base
  const [first] = bases
  if (!first) throw new Fault('not_found', `${store.name} contains no complete base backup.`)
  throw new Fault(
    'not_found',
    `The first moment that can be restored from ${store.name} is ${first.finishedAt}.`,
  )
}
