import { defineCommand } from '../command.ts'
import { MIGRATE_FLAGS } from './migrate-flags.ts'

export const migrateCommand = defineCommand({
  name: 'migrate',
  summary: 'Move mailboxes from one IMAP server to another',
  description: [
    'It copies folders of one IMAP account to another and verifies every message. It needs no service and no database. Ctrl-C stops it. Run the same command again to continue, and later to copy new messages.',
    'Passwords come from the files named by flags, from PORTREEVE_SOURCE_PASSWORD and PORTREEVE_DESTINATION_PASSWORD, or from a prompt. For OAuth access tokens, set PORTREEVE_SOURCE_TOKEN and PORTREEVE_DESTINATION_TOKEN.',
    'With --source-sign-in or --destination-sign-in, you sign in at the provider (OAuth): with a code on any device at Microsoft, in a browser on this machine at Google, Yahoo and Fastmail. Set the client ID first, such as OAUTH_GOOGLE_CLIENT_ID. The sign-in ends with the command.',
    'With --source-admin or --destination-admin, the password is that of an administrator who opens the mailbox of the user in the URL. Methods: authzid (SASL PLAIN), cyrus (the same, after a check that the mailbox exists), master (user*administrator).',
    'With --batch, it copies all mailboxes of a CSV file, several at once, and prints a line for each. Files of imapsync, Microsoft 365, MigrationWiz and NethServer are recognized, and any file with headers such as source_user and destination_password. After three rejected sign-ins in a row at a host, the remaining mailboxes of that host are skipped.',
    'With --every, it goes on: after each TIME, it copies new messages and follows flags, moves and deletions of copied ones. Messages that were deleted at the source keep their copies, unless --apply-deletions is given. It deletes no message that it has not copied itself.',
  ],
  flags: MIGRATE_FLAGS,
  examples: [
    {
      does: 'All folders, with prompts for the passwords',
      command:
        'portreeve migrate --source imaps://alice@old.example.com --destination imaps://alice@new.example.com --all',
    },
    {
      does: 'A dry run of one folder',
      command:
        'portreeve migrate --source imaps://alice@old.example.com --destination imaps://alice@new.example.com --folder INBOX --dry-run',
    },
    {
      does: 'All mailboxes of a company',
      command:
        'portreeve migrate --batch company.csv --source imaps://old.example.com --destination imaps://new.example.com',
    },
  ],
  exitCodes: {
    0: 'all messages copied and verified',
    1: 'some messages were not copied, or the migration stopped',
  },
  async run({ flags, json }) {
    return (await import('./run-migration.ts')).runMigration(flags, json)
  },
})
