import { timingSafeEqual } from 'node:crypto'
import { Fault } from '../errors.ts'
import type { Db } from '../store/database.ts'
import { deriveKey } from './keys.ts'
import { findInstallation, hasAccounts } from './store.ts'

type SetupOptions = { db: Db; secretKey: string }

/**
 * Where the first account is made; null once there is one. Every instance, after every start, tells the same.
 * The token stands in the fragment, which browsers send to no server, so that it reaches no log.
 */
export async function findSetupLink({
  db,
  secretKey,
  baseUrl,
}: SetupOptions & { baseUrl: string }): Promise<string | null> {
  if (await hasAccounts(db)) return null
  return `${baseUrl}/setup#${await setupToken({ db, secretKey })}`
}

/** @throws Fault `forbidden` when this is not the token of the set-up link */
export async function requireSetupToken(options: SetupOptions, token: string): Promise<void> {
  const expected = Buffer.from(await setupToken(options))
  const given = Buffer.from(token)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Fault('forbidden', 'This is not the set-up link that the service printed when it started.')
  }
}

async function setupToken({ db, secretKey }: SetupOptions): Promise<string> {
  return deriveKey(secretKey, `set-up of ${await findInstallation(db)}`)
}
