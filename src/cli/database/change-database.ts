import { existsSync } from 'node:fs'
import { readConfig } from '../../config.ts'
import { parseDatabaseUrl } from '../../database-url.ts'
import { ENCRYPTED_COLUMNS } from '../../encrypted-columns.ts'
import { messageOf } from '../../errors.ts'
import { copyDatabase, type DatabasePlace } from '../../store/copy-database.ts'
import type { CarryPhase } from '../../store/embedded/carry-over.ts'
import { reencryptAll } from '../../store/key-rotation.ts'
import { acceptSecretKey, readSecretKey, secretKeyFile } from '../../store/secret-key.ts'
import { UsageError } from '../command.ts'
import { requireDatabase, withDatabase } from '../database-access.ts'
import { printResult } from '../print-result.ts'
import { createCommandLog } from '../terminal-log.ts'

/** Milliseconds between two lines about the progress. */
const PROGRESS_MS = 5_000

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`

/** Copies the configured database to `--to`. */
export async function copyTo(to: string, json: boolean): Promise<number> {
  const config = readConfig()
  const { DATABASE_URL, DATA_DIR } = config
  const target = targetOf(to, DATA_DIR)
  const source: DatabasePlace = DATABASE_URL ? { url: DATABASE_URL } : { dataDir: DATA_DIR }
  if ('dataDir' in source && 'dataDir' in target)
    throw new UsageError(
      'The database is embedded already: set DATABASE_URL, or give a URL in --to.',
    )
  if ('dataDir' in source) requireDatabase(config)
  const started = performance.now()
  const progress = createProgress(json ? () => {} : console.error)
  const log = createCommandLog(config)
  const copied = await copyDatabase(source, target, { log, ...progress })
  const data = { ...copied, seconds: Math.round((performance.now() - started) / 1_000) }
  const counts = `${copied.tables} tables with ${copied.rows.toLocaleString('en')} rows`
  const next = 'url' in target ? 'Set DATABASE_URL to it' : 'Remove DATABASE_URL from the settings'
  const key = config.SECRET_KEY ? 'SECRET_KEY' : secretKeyFile(DATA_DIR)
  const keyPlace =
    config.SECRET_KEY || existsSync(key) ? `which is in ${key}` : `which you copy to ${key}`
  const text =
    `Copied ${counts} in ${data.seconds} s; both databases are equal. ${next}, and start the service ` +
    `with the same key, ${keyPlace}.`
  return printResult(data, json, text)
}

function targetOf(to: string, dataDir: string): DatabasePlace {
  if (to === 'embedded') return { dataDir }
  try {
    parseDatabaseUrl(to)
  } catch (error) {
    throw new UsageError(`--to ${messageOf(error)}, or must be “embedded”.`)
  }
  return { url: to }
}

const PHASES: Record<CarryPhase, string> = {
  rows: 'Copying rows…',
  indexes: 'Creating indexes and keys…',
  compare: 'Comparing every table…',
}

function createProgress(write: (line: string) => void) {
  let total = 0
  let copied = 0
  let last = performance.now()
  return {
    onStart: (bytes: number): void => {
      total = bytes
      write(`The database has ${megabytes(bytes)}, with its indexes.`)
    },
    onPhase: (phase: CarryPhase): void => write(PHASES[phase]),
    onBytes: (bytes: number): void => {
      copied += bytes
      if (performance.now() - last < PROGRESS_MS) return
      last = performance.now()
      write(`  ${megabytes(copied)} copied; the database has ${megabytes(total)}`)
    },
  }
}

/** Accepts the configured key, and counts what it does not decrypt. */
export async function acceptKey(json: boolean): Promise<number> {
  const { lost, lostIn } = await withDatabase(async (db, config) => {
    const secretKey = readSecretKey(config)
    if (secretKey === null)
      throw new UsageError(
        `There is no key to accept. Set SECRET_KEY, or put one into ${secretKeyFile(config.DATA_DIR)}.`,
        'openssl rand -base64 32',
      )
    const result = await reencryptAll(db, ENCRYPTED_COLUMNS, { secretKey })
    await acceptSecretKey(db, secretKey)
    return result
  })
  const places = Object.entries(lostIn).map(([place, count]) => `${count} in ${place}`)
  const text =
    lost === 0
      ? 'The key is accepted. It decrypts every stored secret.'
      : `The key is accepted. It does not decrypt ${lost} stored secrets, which must be entered again: ${places.join(', ')}.`
  return printResult({ lost, lostIn }, json, text)
}
