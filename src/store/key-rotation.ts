import { sql } from 'kysely'
import type { Db } from './database.ts'
import { encrypt, tryDecrypt } from './encryption.ts'
import { updateRows } from './row.ts'

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

/** How many texts were encrypted again, and how many neither key decrypts, in all and by column. */
export type RotationResult = { resealed: number; lost: number; lostIn: Record<string, number> }

/**
 * Encrypts texts of the previous key with the new one. Instances may do it concurrently and
 * repeatedly. Texts that neither key decrypts stay unchanged.
 */
export async function reencryptAll(
  db: Db,
  columns: EncryptedColumn[],
  keys: SecretKeys,
): Promise<RotationResult> {
  const result: RotationResult = { resealed: 0, lost: 0, lostIn: {} }
  for (const column of columns) {
    for (let rows = await readPage(db, column, null); rows.length > 0;) {
      for (const row of rows) await reencryptRow(db, column, row, keys, result)
      rows = await readPage(db, column, rows.at(-1)?.id ?? null)
    }
  }
  return result
}

/** Reads encrypted values in the order of their ids, after one of them. */
export async function readPage(
  db: Db,
  { table, id, column }: EncryptedColumn,
  after: string | null,
  limit: number = ROWS_PER_PAGE,
): Promise<Row[]> {
  const [name, key, value] = [sql.table(table), sql.ref(id), sql.ref(column)]
  const query = sql<Row>`select ${key} as id, ${value} as sealed from ${name}
    where ${value} is not null and (${after}::uuid is null or ${key} > ${after}::uuid) order by ${key} limit ${limit}`
  return (await query.execute(db)).rows
}

/** Decrypts a value of a column; null when this key does not decrypt it. */
export async function decryptWith(
  { contextOf, cipher }: EncryptedColumn,
  { id, sealed }: Row,
  secretKey: string,
): Promise<string | null> {
  return cipher ? cipher.decrypt(sealed, secretKey) : tryDecrypt(sealed, secretKey, contextOf(id))
}

async function reencryptRow(
  db: Db,
  encrypted: EncryptedColumn,
  row: Row,
  { secretKey, previousKey }: SecretKeys,
  result: RotationResult,
): Promise<void> {
  const { table, id: idColumn, column, contextOf, cipher, derived } = encrypted
  const { id, sealed } = row
  if ((await decryptWith(encrypted, row, secretKey)) !== null) return
  const text = previousKey === undefined ? null : await decryptWith(encrypted, row, previousKey)
  if (text === null) {
    const place = `${table}.${column}`
    result.lost += 1
    result.lostIn[place] = (result.lostIn[place] ?? 0) + 1
    return
  }
  const changed = await (cipher?.encrypt(text, secretKey) ??
    encrypt(text, secretKey, contextOf(id)))
  // Only if it is unchanged: its owner may have entered another meanwhile.
  const also = derived ? sql`, ${sql.ref(derived.column)} = ${derived.of(text, secretKey)}` : sql``
  await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${changed}${also}
    where ${sql.ref(idColumn)} = ${id}::uuid and ${sql.ref(column)} = ${sealed}`.execute(db)
  result.resealed += 1
}

/** The encryption context of a value in `kept_key`. */
export const storedKeyContext = (name: string) => `kept key/${name}`

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
  const context = storedKeyContext(name)
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
  const kept = tryDecrypt(sealed, secretKey, context)
  if (kept !== null) return kept
  // If no key decrypts it, everything made with it is lost, and a new one is derived.
  const saved =
    (previousKey !== undefined ? tryDecrypt(sealed, previousKey, context) : null) ?? first
  await updateRows(db, 'keptKey', { name, sealed }, put(saved))
  return saved
}
