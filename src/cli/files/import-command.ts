import { defineCommand } from '../command.ts'
import { MIGRATE_FLAGS } from '../migrate/migrate-flags.ts'

export const importCommand = defineCommand({
  name: 'import',
  summary: 'Copy mail from files to an IMAP server: mbox, Maildir, .eml',
  description: [
    'It reads mbox files, Maildirs, folders of .eml files, profiles of Thunderbird, exports of Apple Mail (.mbox, .emlx) and Google Takeout, and copies them as “portreeve migrate” does: every message is verified, and the same command continues after an interruption and copies only new messages later.',
    'Files are never loaded as a whole and never changed. Folders below a path become folders of the mailbox. The guide is /docs/guide/mail-files.html.',
    'The password comes from the file named by a flag, from PORTREEVE_DESTINATION_PASSWORD, or from a prompt. For an OAuth access token, set PORTREEVE_DESTINATION_TOKEN.',
  ],
  operands: [
    {
      name: 'PATH',
      summary: 'a file or folder with mail',
      multiple: true,
      completes: 'file',
    },
  ],
  flags: {
    destination: {
      ...MIGRATE_FLAGS.destination,
      summary: MIGRATE_FLAGS.source.summary,
      required: true,
    },
    folder: { ...MIGRATE_FLAGS.folder, summary: 'copy only this folder, as a dry run lists it' },
    prefix: MIGRATE_FLAGS.prefix,
    map: MIGRATE_FLAGS.map,
    'special-use': MIGRATE_FLAGS['special-use'],
    labels: {
      value: 'MODE',
      choices: ['once', 'every', 'ignore'],
      default: 'once',
      summary:
        'messages with Gmail labels: in one folder, in a folder for each label, or in that of the file',
    },
    deduplicate: MIGRATE_FLAGS.deduplicate,
    retry: MIGRATE_FLAGS.retry,
    connections: MIGRATE_FLAGS.connections,
    'dry-run': MIGRATE_FLAGS['dry-run'],
    'no-verify': MIGRATE_FLAGS['no-verify'],
    state: MIGRATE_FLAGS.state,
    'destination-password-file': MIGRATE_FLAGS['destination-password-file'],
    'destination-admin': MIGRATE_FLAGS['destination-admin'],
    'destination-admin-method': MIGRATE_FLAGS['destination-admin-method'],
  },
  examples: [
    {
      does: 'A Google Takeout',
      command: 'portreeve import Takeout/Mail --destination imaps://alice@new.example.com',
    },
    {
      does: 'The folders of a Thunderbird profile, without copying anything',
      command:
        'portreeve import ~/.thunderbird/abcd.default/Mail --destination imaps://alice@new.example.com --dry-run',
    },
  ],
  exitCodes: {
    0: 'all messages copied and verified',
    1: 'some messages were not copied, files with mail were left out, or the import stopped',
  },
  async run({ flags, operands, json }) {
    return (await import('./run-import.ts')).runImport(operands, flags, json)
  },
})
