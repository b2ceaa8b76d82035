import { EXPORT_FORMATS } from '../../migration/files/formats/mail-export-formats.ts'
import { defineCommand } from '../command.ts'
import { MIGRATE_FLAGS } from '../migrate/migrate-flags.ts'

export const exportCommand = defineCommand({
  name: 'export',
  summary: 'Copy mail from an IMAP server to files: Maildir, mbox, .eml',
  description: [
    'It copies folders of an IMAP account to files as “portreeve migrate” copies them to a server: every message is verified, and the same command continues after an interruption and copies only new messages later. Messages that are in the files already are not copied again. Nothing is deleted from them.',
    'The password comes from the file named by a flag, from PORTREEVE_SOURCE_PASSWORD, or from a prompt. For an OAuth access token, set PORTREEVE_SOURCE_TOKEN. The guide is /docs/guide/mail-files.html.',
  ],
  operands: [{ name: 'FOLDER', summary: 'the folder for the files', completes: 'folder' }],
  flags: {
    source: { ...MIGRATE_FLAGS.source, required: true },
    format: {
      value: 'FORMAT',
      choices: EXPORT_FORMATS,
      default: 'maildir',
      summary:
        'Maildir++, an mbox file for each folder, or a file for each message (without flags)',
    },
    folder: { ...MIGRATE_FLAGS.folder, summary: 'copy only this folder' },
    prefix: MIGRATE_FLAGS.prefix,
    map: MIGRATE_FLAGS.map,
    'all-mail-once': MIGRATE_FLAGS['all-mail-once'],
    retry: MIGRATE_FLAGS.retry,
    'dry-run': MIGRATE_FLAGS['dry-run'],
    'no-verify': MIGRATE_FLAGS['no-verify'],
    state: MIGRATE_FLAGS.state,
    'source-password-file': MIGRATE_FLAGS['source-password-file'],
    'source-admin': MIGRATE_FLAGS['source-admin'],
    'source-admin-method': MIGRATE_FLAGS['source-admin-method'],
  },
  examples: [
    {
      does: 'A backup as a Maildir, which the same command brings up to date later',
      command: 'portreeve export ~/mail-backup --source imaps://alice@mail.example.com',
    },
    {
      does: 'Sent mail as an mbox file',
      command:
        'portreeve export sent-mail --source imaps://alice@mail.example.com --folder Sent --format mbox',
    },
  ],
  exitCodes: {
    0: 'all messages copied and verified',
    1: 'some messages were not copied, or the export stopped',
  },
  async run({ flags, operands, json }) {
    return (await import('./run-export.ts')).runExport(operands[0] ?? '', flags, json)
  },
})
