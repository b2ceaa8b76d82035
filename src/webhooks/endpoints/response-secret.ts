import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import { seal, unseal } from '../../store/secrets.ts'
import type { DB } from '../../store/tables.ts'
import { announceEndpoint, requireEndpoint, secretOf } from './endpoints.ts'
import { insertResponseSecret, updateEndpoint, type SealedEndpoint } from './store.ts'

type Deps = { db: Kysely<DB>; secretKey: string }

const SECRET_BYTES = 32

/** Where response secrets are encrypted for. */
export function responseContextOf(id: string): string {
  return `webhook/${id}/response`
}

/** The secret that responses are signed with; generated when there is none yet, the same for every instance. */
export async function ensureResponseSecret(
  db: Db,
  { id, responseSecret }: Pick<SealedEndpoint, 'id' | 'responseSecret'>,
  secretKey: string,
): Promise<string> {
  const encrypted =
    responseSecret ?? (await insertResponseSecret(db, id, seal(newSecret(), secretKey, responseContextOf(id))))
  return unseal(encrypted, secretKey, responseContextOf(id))
}

/** @throws Fault `not_found` */
export async function showResponseSecret({ db, secretKey }: Deps, accountId: string, id: string): Promise<string> {
  return ensureResponseSecret(db, await requireEndpoint(db, accountId, id), secretKey)
}

/**
 * Replaces the secret that responses are signed with, for every instance.
 * @param wanted what a provider prescribes; without it a new one is generated
 * @throws Fault `not_found`, `invalid_request` for the secret that verifies senders
 */
export async function replaceResponseSecret(
  { db, secretKey }: Deps,
  accountId: string,
  id: string,
  wanted: string = newSecret(),
): Promise<string> {
  await db.transaction().execute(async (trx) => {
    const endpoint = await requireEndpoint(trx, accountId, id)
    if (secretOf(endpoint, secretKey) === wanted) throw sameSecret('secret')
    const row = await updateEndpoint(trx, accountId, id, {
      responseSecret: seal(wanted, secretKey, responseContextOf(id)),
    })
    if (row) await announceEndpoint(trx, accountId, row)
  })
  return wanted
}

/** One secret for both would let any sender ask for a signature that then verifies. */
export function sameSecret(path: string): Fault {
  const message = 'must differ between verifying senders and signing responses'
  const sentence =
    'The same secret cannot verify senders and sign responses: any sender could request a valid signature.'
  return new Fault('invalid_request', sentence, { details: [{ path, message }] })
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}
