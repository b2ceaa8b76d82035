import { timingSafeEqual } from 'node:crypto'
import { Fault } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import { deriveKey } from '../../derive-key.ts'
import { findInstallation, hasAccounts } from '../accounts.sql.ts'

type SetupOptions = { db: Db; secretKey: string }

/**
 * Returns the link that creates the first account; null once an account exists. It is the same in
 * every instance and after every start. The token is in the fragment, which browsers do not send,
 * so that it reaches no log.
 */
export async function findSetupLink({
  db,
  secretKey,
  baseUrl,
}: SetupOptions & { baseUrl: string }): Promise<string | null> {
  if (await hasAccounts(db)) return null
  return `${baseUrl}/setup#${await setupToken({ db, secretKey })}`
}

/** @throws Fault `forbidden` when this is not the token of the setup link */
export async function requireSetupToken(options: SetupOptions, token: string): Promise<void> {
  const expected = Buffer.from(await setupToken(options))
  const given = Buffer.from(token)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Fault(
      'forbidden',
      'This is not the setup link that the service printed when it started.',
    )
  }
}

async function setupToken({ db, secretKey }: SetupOptions): Promise<string> {
  return deriveKey(secretKey, `set-up of ${await findInstallation(db)}`)
}
