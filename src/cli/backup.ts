import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { Fault } from '../errors.ts'
import { createLog } from '../log.ts'
import { backUp, restore } from '../store/backup.ts'
import { UsageError, type Command } from './command.ts'
import { requireDatabase } from './database.ts'

const BACKUP = `Usage: portreeve backup FILE

Writes the whole embedded database into FILE, while the service runs or not. DATA_DIR/secret.key, which opens the
passwords in it, is not in it: keep a copy of that somewhere else.

  --json    print JSON`

const RESTORE = `Usage: portreeve restore FILE

Puts the database of a backup into DATA_DIR, which must not have one, and sees that it starts. The service must not run.

  --json    print JSON`

// Standard output belongs to the command's result.
const log = createLog('warn', process.stderr)

export const backupCommand: Command = {
  name: 'backup',
  usage: BACKUP,
  async run(args) {
    const { file, json, config } = read(args)
    requireDatabase(config)
    const bytes = await backUp({ dataDir: config.DATA_DIR, log, file })
    console.log(json ? JSON.stringify({ success: true, file, bytes }) : `${file}: ${(bytes / 1e6).toFixed(1)} MB`)
    return 0
  },
}

export const restoreCommand: Command = {
  name: 'restore',
  usage: RESTORE,
  async run(args) {
    const { file, json, config } = read(args)
    const dataDir = config.DATA_DIR
    const takenAt = await restore({ dataDir, log, file })
    const sentence = `The database of ${takenAt.toISOString()} is restored. Put secret.key into ${dataDir} before you start.`
    console.log(json ? JSON.stringify({ success: true, takenAt }) : sentence)
    return 0
  },
}

function read(args: string[]) {
  const options = { json: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options })
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw new UsageError('give one file')
  const config = readConfig()
  if (config.DATABASE_URL) {
    throw new Fault(
      'conflict',
      'This is for the embedded database. Yours, at DATABASE_URL, has tools of its own: pg_dump.',
    )
  }
  return { file, json: values.json, config }
}
