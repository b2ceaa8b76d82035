import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { Fault } from '../errors.ts'
import { createLog } from '../log.ts'
import { backUp, restore } from '../store/backup.ts'
import { UsageError, type CliCommand } from './command.ts'
import { requireDatabase } from './database.ts'

const BACKUP = `Usage: portreeve backup FILE

Backs up the embedded database to FILE, while the service runs or not. The backup does not contain DATA_DIR/secret.key,
which decrypts the passwords in it: keep a copy of the key in another place.

  --json    print JSON`

const RESTORE = `Usage: portreeve restore FILE

Restores the database of a backup into DATA_DIR and tests that it starts. DATA_DIR must not contain a database, and the
service must be stopped.

  --json    print JSON`

// Standard output belongs to the command's result.
const log = createLog('warn', process.stderr)

export const backupCommand: CliCommand = {
  name: 'backup',
  usage: BACKUP,
  async run(args) {
    const { file, json, config } = read(args)
    requireDatabase(config)
    const bytes = await backUp({ dataDir: config.DATA_DIR, log, file })
    console.log(
      json
        ? JSON.stringify({ success: true, file, bytes })
        : `${file}: ${(bytes / 1e6).toFixed(1)} MB`,
    )
    return 0
  },
}

export const restoreCommand: CliCommand = {
  name: 'restore',
  usage: RESTORE,
  async run(args) {
    const { file, json, config } = read(args)
    const dataDir = config.DATA_DIR
    const takenAt = await restore({ dataDir, log, file })
    const sentence = `Restored the database of ${takenAt.toISOString()}. Copy secret.key to ${dataDir} before you start the service.`
    console.log(json ? JSON.stringify({ success: true, takenAt }) : sentence)
    return 0
  },
}

function read(args: string[]) {
  const options = { json: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options })
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw new UsageError('Give one file.')
  const config = readConfig()
  if (config.DATABASE_URL) {
    throw new Fault(
      'conflict',
      'This command supports only the embedded database. For the database at DATABASE_URL, use pg_dump.',
    )
  }
  return { file, json: values.json, config }
}
