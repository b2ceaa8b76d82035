import { Client } from 'pg'
import { Fault } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { reachEmbedded } from '../embedded.ts'
import { writeBase } from './bases.ts'
import type { ChainBase } from './chain.ts'
import type { ObjectStore } from './object-store.ts'
import { findSlot } from './slot.ts'

/**
 * Makes a base backup in the archive, with or without a running service.
 * @throws Fault `conflict` when the service has not begun to archive
 */
export async function makeBaseNow(
  store: ObjectStore,
  options: { dataDir: string; log: Logger },
): Promise<ChainBase> {
  const server = await reachEmbedded(options)
  try {
    const client = new Client({ connectionString: server.adminUrl, query_timeout: 30_000 })
    client.on('error', () => {})
    await client.connect()
    const slot = await findSlot(client)
    await client.end()
    if (slot?.position) return await writeBase(store, slot.chain, server)
    throw new Fault(
      'conflict',
      `The database is not archived to ${store.name} yet. Start the service with BACKUP_ARCHIVE, which makes the first base backup.`,
    )
  } finally {
    await server.stop()
  }
}
