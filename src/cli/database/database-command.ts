import { defineCommand, defineGroup } from '../command.ts'

const load = () => import('./change-database.ts')

const copyCommand = defineCommand({
  name: 'copy',
  summary: 'Copy the database to PostgreSQL at a URL, or from there to the embedded one',
  description: [
    'Stop the service first. The command copies everything from the database that the settings name: that at DATABASE_URL, or the embedded one in DATA_DIR without it. It then compares every table of both: the number of rows, and a checksum of them.',
    'The target must be empty. It has everything in the end, or nothing: after an interruption, run the command again. The source is only read, except that it gets the schema of this version.',
    'The key in DATA_DIR/secret.key is not in the database: the service needs it in the new place, too.',
  ],
  flags: {
    to: {
      value: 'TARGET',
      required: true,
      summary: 'URL of an empty database, such as postgres://…, or `embedded` for DATA_DIR',
    },
  },
  examples: [
    {
      does: 'From the embedded database to PostgreSQL; the password is in ~/.pgpass',
      command: 'portreeve database copy --to postgres://portreeve@db.example.com/portreeve',
    },
    {
      does: 'From PostgreSQL to the embedded database',
      command:
        'DATABASE_URL=postgres://portreeve@db.example.com/portreeve portreeve database copy --to embedded',
    },
  ],
  exitCodes: { 0: 'copied, and both are equal', 1: 'not copied: the target is as before' },
  async run({ flags: { to }, json }) {
    return (await load()).copyTo(to, json)
  },
})

const acceptKeyCommand = defineCommand({
  name: 'accept-key',
  summary:
    'Accept the configured SECRET_KEY as that of the database, where the earlier one is lost',
  description: [
    'The service does not start with another key than the one that encrypted the stored secrets. Where that one is lost, this command accepts the configured one, and counts the secrets that it does not decrypt. They stay in the database, and must be entered again.',
  ],
  examples: [{ does: 'After the key was lost', command: 'portreeve database accept-key' }],
  async run({ json }) {
    return (await load()).acceptKey(json)
  },
})

export const databaseCommand = defineGroup({
  name: 'database',
  summary: 'Copy the database to another place, and accept another key for it',
  examples: [
    {
      does: 'Move to PostgreSQL',
      command: 'portreeve database copy --to postgres://portreeve@db.example.com/portreeve',
    },
  ],
  subcommands: [copyCommand, acceptKeyCommand],
})
