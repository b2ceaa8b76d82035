import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { Fault } from '../errors.ts'
import { openDatabase, type Db } from './database.ts'
import { encrypt, tryDecrypt } from './encryption.ts'
import { inDataDir } from './data-dir.ts'
import { createFile } from './file.ts'
import { decryptWith, readPage, storedKeyContext, type EncryptedColumn } from './key-rotation.ts'

type KeyConfig = Pick<Config, 'SECRET_KEY' | 'SECRET_KEY_PREVIOUS' | 'DATA_DIR'>

/** The name of the value in `kept_key` that only the key of the database decrypts. */
const CHECK = 'check'
const CHECK_TEXT = 'Portreeve'

/** Values of each column that are tried in a database that has no check value yet. */
const MAX_TRIED = 50

/** The file with the key that the first start generates. */
export const secretKeyFile = (dataDir: string) => join(dataDir, 'secret.key')

/**
 * Reads SECRET_KEY, or the key in DATA_DIR/secret.key; null without one.
 * @throws Fault `unavailable` when the file contains no key
 */
export function readSecretKey({ SECRET_KEY, DATA_DIR }: KeyConfig): string | null {
  if (SECRET_KEY) return SECRET_KEY
  const path = secretKeyFile(DATA_DIR)
  if (!existsSync(path)) return null
  const key = inDataDir(DATA_DIR, path, () => readFileSync(path, 'utf8').trim())
  if (key.length >= 32) return key
  throw new Fault(
    'unavailable',
    `${path} holds no key. Put back the one it held, or remove the file to begin with a new one.`,
  )
}

/**
 * Returns the key of the database. The first start generates it, and stores a check value.
 * @param columns tried in a database that has no check value yet
 * @throws Fault `conflict` when the key is missing or is not that of the database
 */
export async function openSecretKey(
  db: Db,
  config: KeyConfig,
  columns: EncryptedColumn[],
): Promise<string> {
  const problem = await findKeyProblem(db, config, columns)
  if (problem !== null) throw new Fault('conflict', problem)
  const secretKey = readSecretKey(config) ?? createSecretKey(config)
  // During a rotation, the previous key stays that of the database until everything is encrypted
  // with the new one.
  await saveCheck(db, config.SECRET_KEY_PREVIOUS ?? secretKey, 'unless there is one')
  // Another instance may have been the first, with another key.
  const changed = await findKeyProblem(db, config, columns)
  if (changed !== null) throw new Fault('conflict', changed)
  return secretKey
}

/** Whether the configured key is that of a database. */
export type KeyCheck = {
  /** Why it is not; null when it is, or when nothing in the database shows it. */
  problem: string | null
  /** Whether the key was tried: the database has something that only its key decrypts. */
  isTested: boolean
}

/**
 * Says why the configured key is not that of the database; null when it is, or when the database
 * has no secrets yet. Changes nothing.
 */
export async function findKeyProblem(
  db: Db,
  config: KeyConfig,
  columns: EncryptedColumn[],
): Promise<string | null> {
  return (await checkKey(db, config, columns)).problem
}

/**
 * Checks the key of the database at a URL, which may have the schema of an earlier version: no
 * columns are tried, and one without check value stays untested.
 */
export async function checkKeyAt(url: string, config: KeyConfig): Promise<KeyCheck> {
  const { db, close } = openDatabase(url)
  try {
    return await checkKey(db, config, [])
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return UNTESTED
    throw error
  } finally {
    await close()
  }
}

const UNDEFINED_TABLE = '42P01'
const UNTESTED: KeyCheck = { problem: null, isTested: false }

async function checkKey(db: Db, config: KeyConfig, columns: EncryptedColumn[]): Promise<KeyCheck> {
  const isKnown = await readEvidence(db, columns)
  if (isKnown === null) return UNTESTED
  const secretKey = readSecretKey(config)
  const { SECRET_KEY_PREVIOUS: previousKey } = config
  if (secretKey === null) return { problem: describeMissing(config), isTested: false }
  const fits =
    (await isKnown(secretKey)) || (previousKey !== undefined && (await isKnown(previousKey)))
  return { problem: fits ? null : describeWrong(config), isTested: true }
}

const LOST = 'If the key is lost, see /docs/guide/secret-key.html#a-lost-key.'

function describeMissing({ DATA_DIR }: KeyConfig): string {
  return (
    `The key that decrypts the secrets in this database is missing. ` +
    `Copy secret.key to ${DATA_DIR}, or set SECRET_KEY. ${LOST}`
  )
}

function describeWrong({ SECRET_KEY, SECRET_KEY_PREVIOUS, DATA_DIR }: KeyConfig): string {
  const given = SECRET_KEY ? 'SECRET_KEY' : secretKeyFile(DATA_DIR)
  const subject = SECRET_KEY_PREVIOUS
    ? `Neither ${given} nor SECRET_KEY_PREVIOUS is`
    : `${given} is not`
  const remedy = SECRET_KEY_PREVIOUS
    ? 'Set SECRET_KEY_PREVIOUS to the key that was used last.'
    : 'Use the key that was used last; to change it, also set SECRET_KEY_PREVIOUS.'
  return `${subject} the key that encrypted the secrets in this database. ${remedy} ${LOST}`
}

/** Records that everything is encrypted with this key now. */
export function acceptSecretKey(db: Db, secretKey: string): Promise<void> {
  return saveCheck(db, secretKey, 'always')
}

async function saveCheck(
  db: Db,
  secretKey: string,
  when: 'always' | 'unless there is one',
): Promise<void> {
  const sealed = encrypt(CHECK_TEXT, secretKey, storedKeyContext(CHECK))
  await db
    .insertInto('keptKey')
    .values({ name: CHECK, sealed })
    .onConflict((conflict) =>
      when === 'always' ? conflict.column('name').doUpdateSet({ sealed }) : conflict.doNothing(),
    )
    .execute()
}

function createSecretKey(config: KeyConfig): string {
  const text = `${randomBytes(32).toString('base64url')}\n`
  const path = secretKeyFile(config.DATA_DIR)
  inDataDir(config.DATA_DIR, path, () => createFile(path, text, 0o600))
  return readSecretKey(config) as string
}

/** Whether a key decrypts what is in the database. */
type IsKnown = (secretKey: string) => Promise<boolean>

/** Null for a database without secrets. */
async function readEvidence(db: Db, columns: EncryptedColumn[]): Promise<IsKnown | null> {
  const keys = await db.selectFrom('keptKey').selectAll().execute()
  const check = keys.find(({ name }) => name === CHECK)
  const opensOne = (stored: typeof keys, key: string) =>
    stored.some(({ name, sealed }) => tryDecrypt(sealed, key, storedKeyContext(name)) !== null)
  if (check) return async (key) => opensOne([check], key)
  const tried: { column: EncryptedColumn; id: string; sealed: string }[] = []
  for (const column of columns)
    for (const row of await readPage(db, column, null, MAX_TRIED)) tried.push({ column, ...row })
  if (keys.length + tried.length === 0) return null
  return async (key) => {
    if (opensOne(keys, key)) return true
    for (const { column, ...row } of tried)
      if ((await decryptWith(column, row, key)) !== null) return true
    return false
  }
}
