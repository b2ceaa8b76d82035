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
} from '../../http/http-schema.ts'
import { SHOWN_NAME } from '../../http/shown-name.ts'
import { CredentialId } from '../secret-shapes.ts'
import { Administrator, Path, PLAIN } from '../shapes.ts'
import { BATCH_LIMITS, DEFAULT_HOST_LIMIT, MAX_HOST_LIMIT } from './limits.ts'
import { MAILBOX_ORDERS } from './mailboxes/batch-mailboxes.sql.ts'
import { BatchSync, SyncRequest } from '../sync/shapes.ts'
import { FIELDS } from './parse/columns.ts'
import { FORMATS } from './parse/panel-formats.ts'
import { MAX_PASSWORD_CHARS, MAX_USER_CHARS } from './parse/read-side.ts'
import { MAILBOX_STATES } from './batches.sql.ts'

const SideFields = {
  host: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  secure: Type.Optional(
    Type.Boolean({ description: 'Implicit TLS; otherwise STARTTLS if offered.' }),
  ),
  user: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_USER_CHARS })),
  password: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_PASSWORD_CHARS })),
  tlsVerify: Type.Optional(Type.Boolean()),
  administrator: Type.Optional(Administrator),
  credentialId: Type.Optional({
    ...CredentialId,
    description: 'A sign-in at the provider, for mailboxes without a password of their own.',
  } as typeof CredentialId),
  owner: Type.Optional(
    Type.Boolean({
      description: 'The owners of mailboxes without a password sign in by a link.',
    }),
  ),
}

/** One side of all mailboxes, for what a line does not have. */
const SideDefaults = Type.Object(SideFields)

/** One side of one mailbox, as far as it is to change. */
const SideChanges = Type.Object(SideFields)

const ListFields = {
  text: Type.Optional(
    Type.String({ maxLength: BATCH_LIMITS.maxFileBytes, description: 'The lines, as text.' }),
  ),
  file: Type.Optional(
    Type.String({
      maxLength: Math.ceil(BATCH_LIMITS.maxFileBytes / 3) * 4,
      pattern: '^[A-Za-z0-9+/]*={0,2}$',
      description: 'The bytes of a file, in base64: UTF-8, UTF-16 or Windows-1252.',
    }),
  ),
  columns: Type.Optional(
    Type.Array(Nullable(Type.Enum([...FIELDS])), {
      maxItems: BATCH_LIMITS.maxColumns,
      description: 'What each column contains, where its header does not say; null to ignore it.',
    }),
  ),
  hasHeader: Type.Optional(
    Type.Boolean({
      description: 'Whether the first line has names of columns. Detected if left out.',
    }),
  ),
  source: Type.Optional(SideDefaults),
  destination: Type.Optional(SideDefaults),
  samePassword: Type.Optional(
    Type.Boolean({
      description: 'Uses the password of the source at the destination where a line has none.',
    }),
  ),
}
const oneList = { anyOf: [{ required: ['text'] }, { required: ['file'] }] }

const EXAMPLE = {
  text: 'user,password\nalice@example.com,secret\nbob@example.com,secret\n',
  source: { host: 'imap.old.example' },
  destination: { host: 'imap.new.example' },
}

/** A list of mailboxes to read. */
export const MailboxList = Type.Object(ListFields, { ...oneList, examples: [EXAMPLE] })
export type MailboxList = Static<typeof MailboxList>

export const MoreMailboxes = Type.Object(
  {
    ...ListFields,
    existing: Type.Optional(
      Type.Enum(['reject', 'update'], {
        description:
          'What to do with a source that the batch has: report the line as invalid (default), or update its passwords.',
      }),
    ),
  },
  { ...oneList, examples: [EXAMPLE] },
)
export type MoreMailboxes = Static<typeof MoreMailboxes>

const HostLimit = Type.Integer({ minimum: 1, maximum: MAX_HOST_LIMIT })
const LimitFields = {
  sourceLimit: Type.Optional(HostLimit),
  destinationLimit: Type.Optional(HostLimit),
}
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: SHOWN_NAME })

export const NewBatch = Type.Object(
  {
    name: Name,
    ...ListFields,
    specialUse: Type.Optional(
      Type.Boolean({
        description:
          'Copies sent mail, drafts, trash and others to the destination’s folder of the same use, whatever its name. Default: true.',
      }),
    ),
    deduplicate: Type.Optional(
      Type.Boolean({ description: 'Skips messages that are already in the destination folder.' }),
    ),
    allMailOnce: Type.Optional(
      Type.Boolean({
        description:
          'Copies only messages of an all-mail folder (Gmail) that are in no other folder.',
      }),
    ),
    destPrefix: Type.Optional(
      Type.String({
        maxLength: 500,
        pattern: PLAIN,
        description: 'A parent folder: P copies INBOX to P/INBOX.',
      }),
    ),
    folderMap: Type.Optional(
      Type.Record(Path, Path, {
        maxProperties: 200,
        propertyNames: Path,
        description: 'Source path to destination path, in every mailbox.',
      }),
    ),
    sourceLimit: Type.Optional({
      ...HostLimit,
      description: `Mailboxes at once at one source host. Default: ${DEFAULT_HOST_LIMIT}.`,
    } as typeof HostLimit),
    destinationLimit: Type.Optional({
      ...HostLimit,
      description: `Mailboxes at once at one destination host. Default: ${DEFAULT_HOST_LIMIT}.`,
    } as typeof HostLimit),
    sync: Type.Optional(SyncRequest),
  },
  { ...oneList, examples: [{ name: 'Example Ltd', ...EXAMPLE }] },
)
export type NewBatch = Static<typeof NewBatch>

export const BatchChanges = Type.Object(
  { name: Type.Optional(Name), ...LimitFields },
  { examples: [{ sourceLimit: 5 }] },
)
export type BatchChanges = Static<typeof BatchChanges>

const State = Type.Enum([...MAILBOX_STATES])

const Address = Type.Object({
  host: Nullable(Type.String()),
  port: Nullable(Type.Integer()),
  secure: Nullable(Type.Boolean()),
  user: Nullable(Type.String()),
  tlsVerify: Type.Boolean({ description: 'False: any certificate of the server is accepted.' }),
  credentialId: Nullable(Uuid, {
    description: 'The sign-in that opens it, if it has no password.',
  }),
})

/** A list as it was read, without passwords and without storing anything. */
export const ReadList = Type.Object({
  format: Type.Enum([...FORMATS]),
  delimiter: Type.String({ description: 'A comma, a semicolon or a tab.' }),
  header: Nullable(Type.Array(Type.String())),
  sample: Type.Array(Type.String(), {
    description: 'The cells of the first line that is not a header; passwords are masked.',
  }),
  columns: Type.Array(Nullable(Type.Enum([...FIELDS]))),
  total: Type.Integer(),
  valid: Type.Integer(),
  invalid: Type.Integer(),
  mailboxes: Type.Array(
    Type.Object({
      line: Type.Integer(),
      source: Address,
      destination: Address,
      problem: Nullable(Type.String()),
      warning: Nullable(Type.String()),
    }),
    { description: 'The lines with problems first, then those with warnings; up to 500.' },
  ),
})

export const AddedMailboxes = Type.Object({
  added: Type.Integer(),
  updated: Type.Integer(),
  invalid: Type.Integer(),
  problems: Type.Array(Type.Object({ line: Type.Integer(), message: Type.String() }), {
    description: 'Of the first 100 invalid lines.',
  }),
})

const Problem = Type.Object({
  code: Type.String(),
  host: Nullable(Type.String({ description: 'The host that caused it.' })),
  message: Type.String(),
})

export const BatchMailbox = Type.Object({
  id: Uuid,
  line: Type.Integer(),
  state: State,
  source: Address,
  destination: Address,
  verified: Type.Boolean({ description: 'Both sides have accepted the sign-in.' }),
  problem: Nullable(Problem),
  warning: Nullable(Type.String()),
  messagesDone: Type.Integer(),
  messagesTotal: Type.Integer(),
  bytesDone: Type.Integer(),
  bytesTotal: Nullable(Type.Integer()),
  messagesPerSecond: Type.Number(),
  bytesPerSecond: Type.Integer(),
  errorCount: Type.Integer(),
  isEmpty: Type.Boolean({
    description: 'In sync with a source that has no messages. A wrong account looks like this.',
  }),
  passes: Type.Integer({ description: 'Completed synchronizations.' }),
  syncedAt: Nullable(Timestamp),
  migrationId: Nullable(Uuid),
  dryRunId: Nullable(Uuid),
})

const Counts = Type.Object(
  Object.fromEntries(MAILBOX_STATES.map((state) => [state, Type.Integer()])),
  { description: 'Mailboxes by state.' },
)

const BatchFields = {
  id: Uuid,
  name: Type.String(),
  status: Type.Enum(['ready', 'running', 'paused', 'needs_attention', 'in_sync', 'finished']),
  specialUse: Type.Boolean(),
  deduplicate: Type.Boolean(),
  allMailOnce: Type.Boolean(),
  destPrefix: Type.String(),
  folderMap: Type.Record(Type.String(), Type.String()),
  sourceLimit: Type.Integer(),
  destinationLimit: Type.Integer(),
  isSynchronized: Type.Boolean({ description: 'It is synchronized again and again.' }),
  mailboxes: Type.Integer(),
  emptyMailboxes: Type.Integer({
    description: 'Mailboxes in sync whose source has no messages.',
  }),
  counts: Counts,
  messagesDone: Type.Integer(),
  messagesTotal: Type.Integer({ description: 'Of the mailboxes that were counted.' }),
  bytesDone: Type.Integer(),
  bytesTotal: Type.Integer(),
  messagesPerSecond: Type.Number(),
  bytesPerSecond: Type.Integer(),
  etaSeconds: Nullable(
    Type.Integer({ description: 'Until all queued mailboxes are copied, at the present rate.' }),
  ),
  errorCount: Type.Integer(),
  createdAt: Timestamp,
  finishedAt: Nullable(Timestamp),
}

/** A batch in a list. */
const ListedBatch = Type.Object(BatchFields)

export const Batch = Type.Object({
  ...BatchFields,
  sync: Nullable(BatchSync, { description: 'Null unless it is synchronized again and again.' }),
  problems: Type.Array(Type.Object({ ...Problem.properties, count: Type.Integer() }), {
    description: 'Mailboxes that need attention, by cause.',
  }),
  heldHosts: Type.Array(
    Type.Object({
      host: Type.String(),
      rejections: Type.Integer(),
      mailboxes: Type.Integer({ description: 'Queued mailboxes that wait because of it.' }),
    }),
    {
      description: `Hosts that rejected ${BATCH_LIMITS.maxRejections} sign-ins in a row. Mailboxes whose sign-in was never accepted wait; resume the batch to continue.`,
    },
  ),
})

export const CreatedBatch = Type.Object({ batch: Batch, ...AddedMailboxes.properties })

export const BatchPage = Type.Object({ batches: Type.Array(ListedBatch), pagination: Pagination })

export const MailboxQuery = Type.Object({
  ...PageQuery.properties,
  state: Type.Optional(State),
  problem: Type.Optional(
    Type.String({ maxLength: 50, description: 'The code of a problem, such as `sign_in`.' }),
  ),
  host: Type.Optional(
    Type.String({ maxLength: 255, description: 'The host that caused the problem.' }),
  ),
  q: SearchText,
  sort: OrderOf(MAILBOX_ORDERS),
})

export const MailboxPage = Type.Object({
  mailboxes: Type.Array(BatchMailbox),
  pagination: Pagination,
})

export const MailboxChanges = Type.Object(
  { source: Type.Optional(SideChanges), destination: Type.Optional(SideChanges) },
  { examples: [{ source: { password: 'secret' } }] },
)
export type MailboxChanges = Static<typeof MailboxChanges>

export const StartOptions = Type.Object(
  {
    again: Type.Optional(
      Type.Boolean({
        description: 'Also synchronizes mailboxes again that are in sync: new messages are copied.',
      }),
    ),
  },
  { examples: [{}] },
)

export const RetryOptions = Type.Object(
  {
    problem: Type.Optional(Type.String({ maxLength: 50 })),
    host: Type.Optional(Type.String({ maxLength: 255 })),
    mailboxes: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 1_000, uniqueItems: true })),
  },
  { examples: [{ problem: 'sign_in', host: 'imap.old.example' }] },
)

export const QueuedMailboxes = Type.Object({ queued: Type.Integer(), batch: Batch })

/** The data of an event: the batch, and the mailboxes that changed since the last one. */
export const BatchEvent = Type.Object({ batch: Batch, mailboxes: Type.Array(BatchMailbox) })

nameComponents({
  MailboxList,
  MoreMailboxes,
  NewBatch,
  BatchChanges,
  ReadList,
  AddedMailboxes,
  BatchMailbox,
  Batch,
  ListedBatch,
  MailboxChanges,
  BatchStartOptions: StartOptions,
  BatchRetryOptions: RetryOptions,
  BatchEvent,
  MailboxSide: SideDefaults,
  MailboxSideChanges: SideChanges,
})
