import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Pagination, Timestamp, Uuid } from '../http/schema.ts'

/** PostgreSQL chokes on NUL, IMAP on line breaks; no folder is listed with either. */
const PLAIN = '^[^\\u0000-\\u001f\\u007f]*$'
const Path = Type.String({ minLength: 1, maxLength: 1_000, pattern: PLAIN })
const Secret = Type.String({ minLength: 1, maxLength: 10_000 })

/** What it takes to sign in to an IMAP account. */
export const Connection = Type.Object(
  {
    host: Type.String({ minLength: 1, maxLength: 255 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: 993 }),
    secure: Type.Boolean({ default: true, description: 'TLS from the first byte; else STARTTLS where offered.' }),
    user: Type.String({ minLength: 1, maxLength: 500 }),
    password: Type.Optional(Secret),
    accessToken: Type.Optional(Type.String({ ...Secret, description: 'For XOAUTH2, in place of the password.' })),
    tlsVerify: Type.Boolean({ default: true }),
  },
  {
    anyOf: [{ required: ['password'] }, { required: ['accessToken'] }],
    examples: [{ host: 'imap.example.com', user: 'alice@example.com', password: 'secret' }],
  },
)
export type Connection = Static<typeof Connection>

export const ConnectionTest = Type.Object({
  success: Type.Literal(true),
  connected: Type.Literal(true),
  folderCount: Type.Integer(),
  listFailed: Type.Boolean({ description: 'The server refused LIST; folders were found one by one.' }),
  statusOnly: Type.Boolean({ description: 'Only STATUS answered: there may be folders we cannot guess.' }),
  server: Type.Object({ host: Type.String(), port: Type.Integer(), secure: Type.Boolean() }),
  message: Type.String(),
})

export const Folder = Type.Object({
  path: Type.String({ description: 'What the folders of a migration are named by.' }),
  name: Type.String(),
  messages: Type.Integer(),
  unseen: Type.Integer(),
  delimiter: Type.String(),
  flags: Type.Array(Type.String()),
  specialUse: Nullable(Type.String({ description: 'RFC 6154, such as \\Sent; \\Inbox for INBOX.' })),
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
    source: Connection,
    destination: Connection,
    folders: Type.Array(Path, { minItems: 1, maxItems: 200, uniqueItems: true }),
    destPrefix: Type.String({ default: '', maxLength: 500, pattern: PLAIN, description: 'P makes INBOX P/INBOX.' }),
    deduplicate: Type.Boolean({ default: false, description: 'Skip what is in the destination folder already.' }),
    allMailOnce: Type.Boolean({
      default: false,
      description: 'Of a folder that shows all mail (Gmail), copy only what no other of the folders has.',
    }),
    folderMap: Type.Record(Path, Path, {
      default: {},
      maxProperties: 200,
      propertyNames: Path,
      description: 'Source path to destination path.',
    }),
    dryRun: Type.Boolean({ default: false, description: 'Map and count, copy nothing; does not count for the month.' }),
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

const Queue = Nullable(Type.Object({ position: Type.Integer({ minimum: 1 }), totalInQueue: Type.Integer() }))
const Status = Type.Enum(['pending', 'running', 'completed', 'failed'])

export const CreatedMigration = Type.Object({
  success: Type.Literal(true),
  migrationId: Uuid,
  status: Type.Literal('pending'),
  queue: Queue,
  statusUrl: Type.String(),
})

export const MigrationError = Type.Object({
  folder: Type.String({ description: '"" where it is about the whole migration.' }),
  uid: Type.Optional(Type.Integer()),
  messageId: Type.Optional(Type.String()),
  size: Type.Optional(Type.Integer()),
  code: Type.String(),
  message: Type.String(),
  attempts: Type.Integer(),
})

const FolderProgress = Type.Object({
  lastUid: Type.Integer({ description: 'Every source message up to here is dealt with.' }),
  doneCount: Type.Integer(),
  total: Type.Integer(),
  bytes: Type.Integer({ description: 'Of the messages that are done.' }),
  bytesTotal: Nullable(Type.Integer()),
  destination: Type.String({ description: 'Where it goes, as the destination writes it.' }),
})

const Warning = Type.Object({
  code: Type.Enum(['over_quota', 'trash_expires', 'all_mail']),
  folder: Type.String({ description: '"" where it is about the whole migration.' }),
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
  messagesDone: Type.Integer({ description: 'Copied, already there, or failed.' }),
  messagesTotal: Type.Integer(),
  skippedByDedup: Type.Integer(),
  folderProgress: Type.Record(Type.String(), FolderProgress),
  bytesDone: Type.Integer({ description: 'Of the messages that are done.' }),
  bytesTotal: Nullable(Type.Integer({ description: 'Null where the source does not tell sizes at once.' })),
  messagesPerSecond: Type.Number(),
  bytesPerSecond: Type.Integer(),
  etaSeconds: Nullable(Type.Integer()),
  throttledUntil: Nullable(Timestamp),
  warnings: Type.Array(Warning, {
    description: 'What to know beforehand: a dry run tells, too. Nothing stops for it.',
  }),
  notes: Type.Array(Note, { description: 'The first hundred things that were not kept exactly as they were.' }),
}

const MigrationFields = {
  migrationId: Uuid,
  status: Status,
  srcHost: Type.String(),
  srcUser: Type.String(),
  dstHost: Type.String(),
  dstUser: Type.String(),
  destPrefix: Type.String(),
  folders: Type.Array(Type.String()),
  totalFolders: Type.Integer(),
  totalMessages: Type.Integer(),
  errorCount: Type.Integer(),
  deduplicate: Type.Boolean(),
  allMailOnce: Type.Boolean(),
  dryRun: Type.Boolean(),
  folderMap: Type.Record(Type.String(), Type.String()),
  startedAt: Nullable(Timestamp),
  completedAt: Nullable(Timestamp),
  createdAt: Timestamp,
  queue: Queue,
}

/** One migration with all there is to know. */
export const Migration = Type.Object({
  ...MigrationFields,
  progress: Type.Object({ ...ProgressFields, errors: Type.Array(MigrationError) }),
})
export const FoundMigration = Type.Object({ success: Type.Literal(true), ...Migration.properties })

/** One of many: its errors are only counted. */
export const MigrationPage = Type.Object({
  migrations: Type.Array(Type.Object({ ...MigrationFields, progress: Type.Object(ProgressFields) })),
  pagination: Pagination,
  month: Type.Object(
    {
      used: Type.Integer(),
      limit: Nullable(Type.Integer({ description: 'Of the plan; null: as many as one likes.' })),
    },
    { description: 'What counts for this calendar month (UTC).' },
  ),
})
const Renewed = Type.Object(
  { password: Type.Optional(Secret), accessToken: Type.Optional(Secret) },
  { anyOf: [{ required: ['password'] }, { required: ['accessToken'] }] },
)

/** The erased secrets, once more. */
export const Retry = Type.Object(
  { source: Renewed, destination: Renewed },
  { examples: [{ source: { password: 'secret' }, destination: { password: 'secret' } }] },
)
export type Retry = Static<typeof Retry>

nameComponents({
  Connection,
  ConnectionTest,
  Folder,
  FolderList,
  NewMigration,
  CreatedMigration,
  MigrationError,
  FolderProgress,
  Migration,
  FoundMigration,
  RenewedSecret: Renewed,
  MigrationRetry: Retry,
})
