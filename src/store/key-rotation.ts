import { sql } from 'kysely'
import { Fault } from '../errors.ts'
import type { Db } from './database.ts'
import { encrypt, decrypt } from './encryption.ts'

/** A column with encrypted texts. */
export type EncryptedColumn = {
  table: string
  /** Name of the primary key, a UUID. */
  id: string
  column: string
  /** The context with which the row was encrypted. */
  contextOf: (id: string) => string
  /** The encryption, where it is not that of this service. */
  cipher?: {
    encrypt(text: string, secretKey: string): Promise<string>
    /** Null when this key does not decrypt it. */
    decrypt(sealed: string, secretKey: string): Promise<string | null>
  }
  /** Another column, with what the key makes of the decrypted text, such as a keyed hash. */
  derived?: { column: string; of: (text: string, secretKey: string) => string }
}

export type SecretKeys = { secretKey: string; previousKey?: string | undefined }

type Row = { id: string; sealed: string }

const ROWS_PER_PAGE = 500

/**
 * Encrypts texts of the previous key with the new one. Instances may do it concurrently and
 * repeatedly.
 * @returns how many were encrypted, and how many neither key decrypts; those stay unchanged
 */
export async function reencryptAll(
  db: Db,
  columns: EncryptedColumn[],
  keys: SecretKeys,
): Promise<{ resealed: number; lost: number }> {
  const sum = { resealed: 0, lost: 0 }
  for (const column of columns) {
    for (let rows = await pageAfter(db, column, null); rows.length > 0;) {
      for (const row of rows) await reencryptRow(db, column, row, keys, sum)
      rows = await pageAfter(db, column, rows.at(-1)?.id ?? null)
    }
  }
  return sum
}

async function pageAfter(
  db: Db,
  { table, id, column }: EncryptedColumn,
  after: string | null,
): Promise<Row[]> {
  const [name, key, value] = [sql.table(table), sql.ref(id), sql.ref(column)]
  const query = sql<Row>`select ${key} as id, ${value} as sealed from ${name}
    where ${value} is not null and (${after}::uuid is null or ${key} > ${after}::uuid) order by ${key} limit ${ROWS_PER_PAGE}`
  return (await query.execute(db)).rows
}

async function reencryptRow(
  db: Db,
  { table, id: idColumn, column, contextOf, cipher, derived }: EncryptedColumn,
  { id, sealed }: Row,
  { secretKey, previousKey }: SecretKeys,
  sum: { resealed: number; lost: number },
): Promise<void> {
  const context = contextOf(id)
  const open = async (key: string) =>
    cipher ? cipher.decrypt(sealed, key) : opened(sealed, key, context)
  if ((await open(secretKey)) !== null) return
  const text = previousKey === undefined ? null : await open(previousKey)
  if (text === null) return void (sum.lost += 1)
  const changed = await (cipher?.encrypt(text, secretKey) ?? encrypt(text, secretKey, context))
  // Only if it is unchanged: its owner may have entered another meanwhile.
  const also = derived ? sql`, ${sql.ref(derived.column)} = ${derived.of(text, secretKey)}` : sql``
  await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${changed}${also}
    where ${sql.ref(idColumn)} = ${id}::uuid and ${sql.ref(column)} = ${sealed}`.execute(db)
  sum.resealed += 1
}

/** Decrypts a text; null when this key does not decrypt it. */
function opened(sealed: string, key: string, context: string): string | null {
  try {
    return decrypt(sealed, key, context)
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

/**
 * Loads a key that stays the same when SECRET_KEY changes: derived from it once, then stored
 * encrypted.
 * @param name its purpose
 * @param derive derives it from SECRET_KEY
 */
export async function loadStableKey(
  db: Db,
  name: string,
  derive: (secretKey: string) => string,
  keys: SecretKeys,
): Promise<string> {
  const { secretKey, previousKey } = keys
  const context = `kept key/${name}`
  const first = derive(previousKey ?? secretKey)
  const put = (text: string) => ({ name, sealed: encrypt(text, secretKey, context) })
  await db
    .insertInto('keptKey')
    .values(put(first))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { sealed } = await db
    .selectFrom('keptKey')
    .select('sealed')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  const kept = opened(sealed, secretKey, context)
  if (kept !== null) return kept
  // If no key decrypts it, everything made with it is lost, and a new one is derived.
  const saved = (previousKey !== undefined ? opened(sealed, previousKey, context) : null) ?? first
  await db
    .updateTable('keptKey')
    .set(put(saved))
    .where('name', '=', name)
    .where('sealed', '=', sealed)
    .execute()
  return saved
}
