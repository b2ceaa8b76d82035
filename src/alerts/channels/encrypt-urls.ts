import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { listPlainUrls, saveEncryptedUrl } from './alert-channels.sql.ts'
import { encryptUrl } from './webhook.ts'

/** Encrypts the URLs of webhook channels that earlier versions stored as text. */
export async function encryptUrls({
  db,
  secretKey,
}: {
  db: Kysely<DB>
  secretKey: string
}): Promise<void> {
  for (const { id, target } of await listPlainUrls(db)) {
    if (URL.canParse(target))
      await saveEncryptedUrl(db, id, target, encryptUrl(id, target, secretKey))
  }
}
