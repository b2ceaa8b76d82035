import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import type { Client } from 'pg'
import { Fault } from '../../errors.ts'
import { walKey } from './chain.ts'
import type { ObjectStore } from './object-store.ts'
import { advanceSlot } from './slot.ts'
import { parseLsn, segmentName, segmentOf, SEGMENT_BYTES, startOf } from './wal.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const COMPRESSION = {
  params: {
    [constants.ZSTD_c_compressionLevel]: 1,
    // Reading it detects every changed byte.
    [constants.ZSTD_c_checksumFlag]: 1,
  },
}

/** The end of the WAL that is on disk. */
export type WalEnd = { timeline: number; flushed: bigint }

export async function readWalEnd(client: Client): Promise<WalEnd> {
  const { rows } = await client.query<{ name: string; flushed: string }>(
    'select pg_walfile_name(pg_current_wal_insert_lsn()) as name, pg_current_wal_flush_lsn()::text as flushed',
  )
  const { name = '', flushed = '0/0' } = rows[0] ?? {}
  return { timeline: parseInt(name.slice(0, 8), 16), flushed: parseLsn(flushed) }
}

/**
 * Ends the current segment, so that what was committed until now can be archived. Without new WAL
 * it does nothing.
 */
export async function switchSegment(client: Client): Promise<void> {
  await client.query('select pg_switch_wal()')
}

type Shipment = {
  client: Client
  store: ObjectStore
  /** The data folder. */
  folder: string
  chain: string
  position: bigint
  signal?: AbortSignal | undefined
  onShipped: (position: bigint) => void
}

/**
 * Archives every complete segment from a position on, in order, and lets PostgreSQL remove it.
 * @throws Fault `conflict` when the archive has another segment of this name
 */
export async function shipSegments(end: WalEnd, shipment: Shipment): Promise<void> {
  const { client, chain, signal, onShipped } = shipment
  for (let segment = segmentOf(shipment.position); ; segment++) {
    const next = startOf(segment + 1n)
    if (next > end.flushed || signal?.aborted) return
    await shipSegment(segmentName(end.timeline, segment), shipment)
    await advanceSlot(client, chain, next)
    onShipped(next)
  }
}

async function shipSegment(name: string, { store, folder, chain }: Shipment): Promise<void> {
  const bytes = await readFile(join(folder, 'pg_wal', name))
  const key = walKey(chain, name)
  if (await store.create(key, await compress(bytes, COMPRESSION))) return
  // A crash between archiving and the next checkpoint repeats a segment.
  if (bytes.equals(await readSegment(store, chain, name))) return
  throw new Fault(
    'conflict',
    `${store.name} has another WAL segment ${name}: a copy of this database writes to the same archive.`,
  )
}

/** Reads a segment of the archive. */
export async function readSegment(
  store: ObjectStore,
  chain: string,
  name: string,
): Promise<Buffer> {
  const bytes = await decompress(await buffer(await store.read(walKey(chain, name))), {
    maxOutputLength: Number(SEGMENT_BYTES),
  })
  if (bytes.length === Number(SEGMENT_BYTES)) return bytes
  throw new Error(`the WAL segment ${name} of the archive is incomplete`)
}
