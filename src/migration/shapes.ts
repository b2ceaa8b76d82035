import { Type, type Static } from 'typebox'
import {
  nameComponents,
  Nullable,
  OrderOf,
  PageQuery,
  Pagination,
  SearchText,
  Timestamp,
  Uuid,
} from '../http/http-schema.ts'
import { ADMINISTRATOR_METHODS } from '../net/imap/connection/imap-sign-in.ts'
import { CredentialId, REQUIRES_SECRET, RetrySecret, Secret } from './secret-shapes.ts'
import { MIGRATION_ORDERS } from './migrations.sql.ts'
import { MigrationSync, SyncRequest } from './sync/shapes.ts'

/** PostgreSQL rejects NUL, and IMAP line breaks. No listed folder has either in its name. */
export const PLAIN = '^[^\\u0000-\\u001f\\u007f]*$'
export const Path = Type.String({ minLength: 1, maxLength: 1_000, pattern: PLAIN })

export const Administrator = Type.Object(
  {
    user: Type.String({ minLength: 1, maxLength: 500 }),
    method: Type.Enum([...ADMINISTRATOR_METHODS], {
      description:
        'authzid: SASL PLAIN with the user as authorization identity; cyrus: the same after a check that the mailbox exists; master: a combined name, user*administrator.',
    }),
    separator: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 5,
        description: 'Of the method master, between user and administrator: * by default.',
      }),
    ),
  },
  {
    description: 'Whose password opens the mailbox of `user`.',
    examples: [{ user: 'admin', method: 'authzid' }],
  },
)

const CONNECTION_FIELDS = {
  host: Type.String({ minLength: 1, maxLength: 255 }),
  port: Type.Integer({ minimum: 1, maximum: 65_535, default: 993 }),
  secure: Type.Boolean({
    default: true,
    description: 'Implicit TLS; otherwise STARTTLS if offered.',
  }),
  user: Type.String({ minLength: 1, maxLength: 500 }),
  password: Type.Optional(Secret),
  accessToken: Type.Optional(
    Type.String({ ...Secret, description: 'For XOAUTH2, instead of a password.' }),
  ),
  credentialId: Type.Optional(CredentialId),
  administrator: Type.Optional(Administrator),
  tlsVerify: Type.Boolean({ default: true }),
}

/** An IMAP account and its credentials. */
export const Connection = Type.Object(CONNECTION_FIELDS, {
  ...REQUIRES_SECRET,
  examples: [{ host: 'imap.example.com', user: 'alice@example.com', password: 'secret' }],
})
export type Connection = Static<typeof Connection>

/** An account of a migration, whose owner may sign in later. */
const MigrationSide = Type.Object(
  {
    ...CONNECTION_FIELDS,
    owner: Type.Optional(
      Type.Literal(true, {
        description:
          'The owner signs in by a link (`/api/v1/imap/migrate/{id}/owner-links`). The migration waits for that.',
      }),
    ),
  },
  {
    anyOf: [...REQUIRES_SECRET.anyOf, { required: ['owner'] }],
    examples: [{ host: 'imap.example.com', user: 'alice@example.com', owner: true }],
  },
)

export const ConnectionTest = Type.Object({
  success: Type.Literal(true),
  connected: Type.Literal(true),
  folderCount: Type.Integer(),
  listFailed: Type.Boolean({
    description: 'The server rejected LIST. Folders were found one by one.',
  }),
  statusOnly: Type.Boolean({
    description: 'Only STATUS works: there may be folders with names that were not tried.',
  }),
  server: Type.Object({ host: Type.String(), port: Type.Integer(), secure: Type.Boolean() }),
  message: Type.String(),
})

export const Folder = Type.Object({
  path: Type.String({ description: 'The name of the folder in a migration.' }),
  name: Type.String(),
  messages: Type.Integer(),
  unseen: Type.Integer(),
  delimiter: Type.String(),
  flags: Type.Array(Type.String()),
  specialUse: Nullable(
    Type.String({ description: 'RFC 6154, such as \\Sent; \\Inbox for INBOX.' }),
  ),
})

export const FolderList = Type.Object({
  folders: Type.Array(Folder),
  totalFolders: Type.Integer(),
  totalMessages: Type.Integer(),
  server: Type.Object({ host: Type.String(), user: Type.String() }),
  usedFallback: Type.Boolean(),
  statusOnly: Type.Boolean(),
})

export const NewMigration = Type.Object(
  {
    source: MigrationSide,
    destination: MigrationSide,
    folders: Type.Array(Path, {
      maxItems: 200,
      uniqueItems: true,
      description: 'At least one; empty for all folders of a source whose owner signs in.',
    }),
    destPrefix: Type.String({
      default: '',
      maxLength: 500,
      pattern: PLAIN,
      description: 'A parent folder: P copies INBOX to P/INBOX.',
    }),
    deduplicate: Type.Boolean({
      default: false,
      description: 'Skips messages that are already in the destination folder.',
    }),
    allMailOnce: Type.Boolean({
      default: false,
      description:
        'Copies only messages of an all-mail folder (Gmail) that are in no other folder.',
    }),
    folderMap: Type.Record(Path, Path, {
      default: {},
      maxProperties: 200,
      propertyNames: Path,
      description: 'Source path to destination path.',
    }),
    dryRun: Type.Boolean({
      default: false,
      description:
        'Maps folders and counts messages, but copies nothing. Does not count towards the monthly limit.',
    }),
    sync: Type.Optional(SyncRequest),
  },
  {
    examples: [
      {
        source: { host: 'imap.old.example', user: 'alice', password: 'secret' },
        destination: { host: 'imap.new.example', user: 'alice', password: 'secret' },
        folders: ['INBOX', 'Sent'],
        destPrefix: 'Old',
      },
    ],
  },
)
export type NewMigration = Static<typeof NewMigration>

const Queue = Nullable(
  Type.Object({ position: Type.Integer({ minimum: 1 }), totalInQueue: Type.Integer() }),
)
const Status = Type.Enum(['pending', 'running', 'paused', 'completed', 'failed'], {
  description:
    '`paused`: the batch that it is part of is paused; without a batch, the owner of a mailbox has not signed in yet or has withdrawn (`sign_in_withdrawn`), or an account must sign in at its provider again (`consent_needed`).',
})

export const CreatedMigration = Type.Object({
  success: Type.Literal(true),
  migrationId: Uuid,
  status: Type.Enum(['pending', 'paused']),
  queue: Queue,
  statusUrl: Type.String(),
})

const MigrationError = Type.Object({
  folder: Type.String({ description: '"" for the whole migration.' }),
  uid: Type.Optional(Type.Integer()),
  messageId: Type.Optional(Type.String()),
  size: Type.Optional(Type.Integer()),
  code: Type.String(),
  message: Type.String(),
  attempts: Type.Integer(),
})

const FolderProgress = Type.Object({
  lastUid: Type.Integer({ description: 'Every source message up to this UID has been processed.' }),
  doneCount: Type.Integer(),
  total: Type.Integer(),
  bytes: Type.Integer({ description: 'Bytes of processed messages.' }),
  bytesTotal: Nullable(Type.Integer()),
  destination: Type.String({ description: 'The destination folder, as named there.' }),
})

const Warning = Type.Object({
  code: Type.Enum(['over_quota', 'trash_expires', 'all_mail']),
  folder: Type.String({ description: '"" for the whole migration.' }),
  message: Type.String(),
})

const Note = Type.Object({
  folder: Type.String(),
  uid: Type.Optional(Type.Integer()),
  message: Type.String(),
})

const ProgressFields = {
  currentFolder: Type.String(),
  foldersDone: Type.Integer(),
  foldersTotal: Type.Integer(),
  messagesDone: Type.Integer({ description: 'Messages that were copied, skipped, or failed.' }),
  messagesTotal: Type.Integer(),
  skippedByDedup: Type.Integer(),
  folderProgress: Type.Record(Type.String(), FolderProgress),
  bytesDone: Type.Integer({ description: 'Bytes of processed messages.' }),
  bytesTotal: Nullable(
    Type.Integer({ description: 'Null if the source does not report sizes in one command.' }),
  ),
  messagesPerSecond: Type.Number(),
  bytesPerSecond: Type.Integer(),
  etaSeconds: Nullable(Type.Integer()),
  throttledUntil: Nullable(Timestamp),
  warnings: Type.Array(Warning, {
    description: 'Warnings, also in a dry run. They do not stop the migration.',
  }),
  notes: Type.Array(Note, { description: 'The first hundred changes to copied messages.' }),
}

export const MigrationThroughput = Type.Object({
  success: Type.Literal(true),
  data: Nullable(
    Type.Object({
      startedAt: Timestamp,
      stepSeconds: Type.Integer({ description: 'The length of each step.' }),
      points: Type.Array(
        Type.Object({
          step: Type.Integer({ description: 'Steps since the start. Others have no report.' }),
          messages: Type.Integer({ description: 'Messages copied, skipped or failed in it.' }),
          bytes: Type.Integer(),
          throttled: Type.Boolean({ description: 'A server asked us to wait.' }),
          connectionLost: Type.Boolean(),
        }),
        { maxItems: 240 },
      ),
    }),
  ),
})

const UsedSignIn = Type.Object(
  {
    waitsForOwner: Type.Boolean({ description: 'The owner has not signed in yet, by a link.' }),
    byOwner: Type.Boolean({ description: 'The owner has signed in, by a link.' }),
    administrator: Nullable(
      Type.String({ description: 'The administrator whose password is used.' }),
    ),
    credentialId: Nullable({
      ...Uuid,
      description: 'The sign-in at the provider of the mailbox (`/api/v1/imap/credentials`).',
    } as typeof Uuid),
  },
  { description: 'How the migration signs in. Secrets are never returned.' },
)

const MigrationFields = {
  migrationId: Uuid,
  status: Status,
  srcHost: Type.String(),
  srcUser: Type.String(),
  dstHost: Type.String(),
  dstUser: Type.String(),
  destPrefix: Type.String(),
  folders: Type.Array(Type.String(), { description: 'Empty: all folders.' }),
  totalFolders: Type.Integer(),
  totalMessages: Type.Integer(),
  errorCount: Type.Integer(),
  deduplicate: Type.Boolean(),
  allMailOnce: Type.Boolean(),
  dryRun: Type.Boolean(),
  folderMap: Type.Record(Type.String(), Type.String()),
  srcSignIn: UsedSignIn,
  dstSignIn: UsedSignIn,
  specialUse: Type.Boolean({
    description: 'Special-use folders are copied to the destination’s folder of the same use.',
  }),
  batchId: Nullable(Uuid, { description: 'The batch that it is part of.' }),
  sync: Nullable(MigrationSync, { description: 'Null unless it is synchronized again and again.' }),
  startedAt: Nullable(Timestamp),
  completedAt: Nullable(Timestamp),
  createdAt: Timestamp,
  queue: Queue,
}

/** A migration with its errors. */
export const Migration = Type.Object({
  ...MigrationFields,
  progress: Type.Object({ ...ProgressFields, errors: Type.Array(MigrationError) }),
})
export const FoundMigration = Type.Object({ success: Type.Literal(true), ...Migration.properties })

export const MigrationQuery = Type.Object({
  ...PageQuery.properties,
  q: SearchText,
  sort: OrderOf(MIGRATION_ORDERS),
})

/** A page of migrations. Their errors are only counted. */
export const MigrationPage = Type.Object({
  migrations: Type.Array(
    Type.Object({ ...MigrationFields, progress: Type.Object(ProgressFields) }),
  ),
  pagination: Pagination,
  month: Type.Object(
    {
      used: Type.Integer(),
      limit: Nullable(Type.Integer({ description: 'The limit of the plan; null if unlimited.' })),
    },
    { description: 'Usage in this calendar month (UTC).' },
  ),
})

/** The credentials of both accounts, because the stored ones were deleted. */
export const Retry = Type.Object(
  { source: RetrySecret, destination: RetrySecret },
  { examples: [{ source: { password: 'secret' }, destination: { password: 'secret' } }] },
)
export type Retry = Static<typeof Retry>

nameComponents({
  Administrator,
  Connection,
  MigrationSide,
  ConnectionTest,
  Folder,
  FolderList,
  NewMigration,
  CreatedMigration,
  MigrationError,
  FolderProgress,
  Migration,
  FoundMigration,
  UsedSignIn,
  MigrationRetry: Retry,
})
