import { ADMINISTRATOR_METHODS } from '../../net/imap/connection/imap-sign-in.ts'
import { PROVIDER_IDS } from '../../mail-credentials/providers.ts'
import type { Flags, FlagValues } from '../command.ts'

export const MIGRATE_FLAGS = {
  source: {
    value: 'URL',
    summary: 'imaps://user@host[:port] (TLS) or imap://user@host[:port] (STARTTLS)',
  },
  destination: { value: 'URL', summary: 'the same for the destination' },
  batch: {
    value: 'FILE',
    completes: 'file',
    summary: 'copy all mailboxes of a CSV file; --source and --destination are then servers',
  },
  parallel: {
    value: 'N',
    range: [1, 16],
    default: '4',
    summary: 'mailboxes of a batch at once',
  },
  'same-password': {
    summary: 'use the source password at the destination where a line of the batch has none',
  },
  all: { summary: 'copy all folders' },
  folder: { value: 'FOLDER', multiple: true, summary: 'copy this folder' },
  prefix: {
    value: 'FOLDER',
    default: '',
    summary: 'put everything under this folder: INBOX becomes FOLDER/INBOX',
  },
  map: { value: 'FROM=TO', multiple: true, summary: 'copy folder FROM to folder TO' },
  'special-use': {
    summary: 'map sent mail, drafts, trash and others to the destination’s special-use folders',
  },
  deduplicate: { summary: 'skip messages that already exist in the destination folder' },
  'all-mail-once': {
    summary: 'from Gmail’s All Mail, copy only messages that no other folder has',
  },
  retry: { summary: 'retry messages that failed before' },
  every: {
    value: 'TIME',
    summary: 'synchronize again after each TIME, such as 30m or 2h, until Ctrl-C',
  },
  'apply-deletions': {
    summary: 'with --every, delete copies of messages that were deleted at the source',
  },
  'confirm-deletions': {
    summary:
      'with --apply-deletions, also where a folder lost more than half of its messages at once',
  },
  connections: {
    value: 'N',
    range: [1, 16],
    default: '4',
    summary: 'maximum number of connection pairs',
  },
  'dry-run': { summary: 'show the folders and their destinations, copy nothing' },
  'no-verify': { summary: 'accept invalid TLS certificates' },
  state: {
    value: 'FOLDER',
    completes: 'folder',
    summary: 'folder for the state of migrations',
    defaultText: 'DATA_DIR/migrations',
  },
  'source-password-file': {
    value: 'FILE',
    completes: 'file',
    summary: 'file with the password of the source',
  },
  'destination-password-file': {
    value: 'FILE',
    completes: 'file',
    summary: 'file with the password of the destination',
  },
  'source-sign-in': {
    value: 'PROVIDER',
    choices: PROVIDER_IDS,
    summary: 'sign in to the source at its provider (OAuth), without a password',
  },
  'destination-sign-in': {
    value: 'PROVIDER',
    choices: PROVIDER_IDS,
    summary: 'sign in to the destination at its provider',
  },
  'source-service-account': {
    value: 'FILE',
    completes: 'file',
    summary: 'sign in to the source with this key of a Google service account, for any mailbox',
  },
  'destination-service-account': {
    value: 'FILE',
    completes: 'file',
    summary: 'the same for the destination',
  },
  'source-app': {
    value: 'TENANT/ID',
    summary: 'sign in to the source as this Microsoft application; its secret is the password',
  },
  'destination-app': {
    value: 'TENANT/ID',
    summary: 'the same for the destination',
  },
  'source-app-certificate': {
    value: 'FILE',
    completes: 'file',
    summary: 'PEM file with the certificate and key of that application, in place of a secret',
  },
  'destination-app-certificate': {
    value: 'FILE',
    completes: 'file',
    summary: 'the same for the destination',
  },
  'source-admin': {
    value: 'USER',
    summary: 'sign in to the source with the password of this administrator',
  },
  'source-admin-method': {
    value: 'METHOD',
    choices: ADMINISTRATOR_METHODS,
    default: 'authzid',
    summary: 'how that administrator opens the mailbox',
  },
  'destination-admin': {
    value: 'USER',
    summary: 'sign in to the destination with the password of this administrator',
  },
  'destination-admin-method': {
    value: 'METHOD',
    choices: ADMINISTRATOR_METHODS,
    default: 'authzid',
    summary: 'how that administrator opens the mailbox',
  },
} as const satisfies Flags

export type MigrateFlags = FlagValues<typeof MIGRATE_FLAGS>
