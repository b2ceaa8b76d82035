import { defineCommand, defineGroup } from '../command.ts'

const load = () => import('./run-backups.ts')

const FILE = { name: 'FILE', summary: 'file of the backup', completes: 'file' } as const

const createCommand = defineCommand({
  name: 'create',
  summary: 'Back up the embedded database to a file, or to the archive without one',
  description: [
    'It works while the service runs and while it is stopped. `portreeve backup FILE` does the same. Without FILE, it makes a base backup in BACKUP_ARCHIVE, which the service must have used before.',
    'The backup does not contain DATA_DIR/secret.key, which decrypts the passwords in it: keep a copy of the key in another place.',
  ],
  operands: [{ ...FILE, optional: true }],
  examples: [
    {
      does: 'A backup with today’s date in its name',
      command: 'portreeve backup portreeve-$(date +%F).backup',
    },
    { does: 'A base backup in the archive, now', command: 'portreeve backup create' },
  ],
  async run({ operands: [file], json }) {
    const { createFileBackup, createArchiveBackup } = await load()
    return file === undefined ? createArchiveBackup(json) : createFileBackup(file, json)
  },
})

const listCommand = defineCommand({
  name: 'list',
  summary: 'List the base backups in BACKUP_ARCHIVE, and until when it reaches',
  examples: [{ does: 'What can be restored', command: 'portreeve backup list' }],
  async run({ json }) {
    return (await load()).listBackups(json)
  },
})

const verifyCommand = defineCommand({
  name: 'verify',
  summary: 'Restore the newest moment of BACKUP_ARCHIVE to a temporary folder, and check it',
  description: [
    'A restore drill: it starts PostgreSQL on the restored database, and checks every table and index with amcheck. It shows how long a restore takes (RTO), and how much a disaster now would lose (RPO). It changes neither the archive nor the database of the service.',
  ],
  flags: {
    folder: {
      value: 'FOLDER',
      summary: 'where the temporary folder is made; it needs space for the whole database',
      defaultText: 'the system’s folder for temporary files',
      completes: 'folder',
    },
    'max-age': {
      value: 'SECONDS',
      range: [1, 31_536_000],
      summary: 'fail when the newest moment is older',
      defaultText: 'any age',
    },
  },
  examples: [
    {
      does: 'Every week, with an error when an hour is missing',
      command: 'portreeve backup verify --max-age 3600',
    },
    {
      does: 'The times, for a script',
      command: 'portreeve backup verify --json | jq .data.seconds',
    },
  ],
  exitCodes: { 0: 'the backup is good', 1: 'it cannot be restored, is damaged or too old' },
  async run({ flags, json }) {
    return (await load()).verifyBackups({
      folder: flags.folder,
      maxAgeSeconds: flags['max-age'],
      json,
    })
  },
})

export const backupCommand = defineGroup({
  name: 'backup',
  summary: 'Back up the embedded database, and check the backups',
  examples: [
    {
      does: 'A backup with today’s date in its name',
      command: 'portreeve backup portreeve-$(date +%F).backup',
    },
    { does: 'Test the continuous backups', command: 'portreeve backup verify' },
  ],
  subcommands: [createCommand, listCommand, verifyCommand],
  route: () => 'create',
})

export const restoreCommand = defineCommand({
  name: 'restore',
  summary: 'Restore the embedded database from a file, or a moment from BACKUP_ARCHIVE',
  description: [
    'It restores the database into DATA_DIR and tests that it starts. DATA_DIR must not contain a database, and the service must be stopped.',
    'With --at, it restores everything committed until that moment.',
  ],
  operands: [{ ...FILE, optional: true }],
  flags: {
    at: {
      value: 'TIME',
      summary: 'a moment in ISO 8601 with a time zone, or `latest`',
    },
  },
  examples: [
    {
      does: 'Restore a file into an empty folder',
      command: 'DATA_DIR=/var/lib/portreeve portreeve restore portreeve.backup',
    },
    {
      does: 'Restore the state before a mistake',
      command: 'portreeve restore --at 2026-11-26T09:00:00Z',
    },
    { does: 'Restore everything that was archived', command: 'portreeve restore --at latest' },
  ],
  async run({ operands: [file], flags: { at }, json }) {
    return (await load()).restoreBackup({ file, at, json })
  },
})
