import { Fault } from '../errors.ts'
import { defineCommand } from './command.ts'

const FILE = { name: 'FILE', summary: 'file of the backup', completes: 'file' } as const

export const backupCommand = defineCommand({
  name: 'backup',
  summary: 'Back up the embedded database to a file',
  description: [
    'It works while the service runs and while it is stopped. The backup does not contain DATA_DIR/secret.key, which decrypts the passwords in it: keep a copy of the key in another place.',
  ],
  operands: [FILE],
  examples: [
    {
      does: 'A backup with today’s date in its name',
      command: 'portreeve backup portreeve-$(date +%F).backup',
    },
  ],
  async run({ operands: [file = ''], json }) {
    const { backUp, requireDatabase, log, config } = await openBackups()
    requireDatabase(config)
    const bytes = await backUp({ dataDir: config.DATA_DIR, log, file })
    const text = `${file}: ${(bytes / 1e6).toFixed(1)} MB`
    console.log(json ? JSON.stringify({ success: true, file, bytes }) : text)
    return 0
  },
})

export const restoreCommand = defineCommand({
  name: 'restore',
  summary: 'Restore the embedded database from a backup',
  description: [
    'It restores the database into DATA_DIR and tests that it starts. DATA_DIR must not contain a database, and the service must be stopped.',
  ],
  operands: [FILE],
  examples: [
    {
      does: 'Restore into an empty folder',
      command: 'DATA_DIR=/var/lib/portreeve portreeve restore portreeve.backup',
    },
  ],
  async run({ operands: [file = ''], json }) {
    const { restore, log, config } = await openBackups()
    const dataDir = config.DATA_DIR
    const takenAt = await restore({ dataDir, log, file })
    const sentence = `Restored the database of ${takenAt.toISOString()}. Copy secret.key to ${dataDir} before you start the service.`
    console.log(json ? JSON.stringify({ success: true, takenAt }) : sentence)
    return 0
  },
})

/** @throws Fault `conflict` for a database that is not embedded, `not_found` when there is none */
async function openBackups() {
  const [{ readConfig }, { createCommandLog }, { backUp, restore }, { requireDatabase }] =
    await Promise.all([
      import('../config.ts'),
      import('./terminal-log.ts'),
      import('../store/backup.ts'),
      import('./database.ts'),
    ])
  const config = readConfig()
  if (config.DATABASE_URL) {
    throw new Fault(
      'conflict',
      'This command supports only the embedded database. For the database at DATABASE_URL, use pg_dump.',
    )
  }
  return { backUp, restore, requireDatabase, config, log: createCommandLog(config) }
}
