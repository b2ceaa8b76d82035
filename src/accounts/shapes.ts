import { Type } from 'typebox'
import { PLANS } from '../config.ts'
import { ROLES, SCOPES } from '../http/access.ts'
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
import { SHOWN_NAME } from '../http/shown-name.ts'
import { OVER_QUOTA_EFFECTS, QUOTAS } from './own-data/account-quotas.ts'
import { ACCOUNT_ORDERS } from './accounts.sql.ts'
import { TOKEN_LIFETIMES } from './tokens/lifetimes.ts'

export const NAME_LENGTH = 200
export const LABEL_LENGTH = 100
export const PASSWORD_LENGTH = { minLength: 10, maxLength: 128 }

export const Email = Type.String({
  format: 'email',
  maxLength: 320,
  description: 'Case-insensitive.',
})
export const Name = Type.String({ pattern: SHOWN_NAME, maxLength: NAME_LENGTH })
export const Password = Type.String(PASSWORD_LENGTH)
/** An existing password, for sign-in and confirmation: only its length is limited. */
export const OwnPassword = Type.String({ maxLength: PASSWORD_LENGTH.maxLength })
export const PlanName = Type.Enum([...PLANS])
const Label = Type.String({
  pattern: SHOWN_NAME,
  maxLength: LABEL_LENGTH,
  description: 'The purpose of the token.',
})

const ALICE = {
  id: '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11',
  email: 'alice@example.com',
  name: 'Alice',
  plan: 'pro' as const,
  admin: false,
}
const CREATED = '2026-11-21T12:00:00.000Z'
const TOKEN = {
  id: '019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42',
  label: 'monitoring',
  scopes: ['monitoring:write' as const, 'checks:read' as const],
  createdAt: CREATED,
  expiresAt: '2027-02-19T12:00:00.000Z',
}

const Person = {
  id: Uuid,
  email: Type.String(),
  name: Type.String(),
  plan: PlanName,
  admin: Type.Boolean(),
}

export const Account = Type.Object(
  {
    ...Person,
    createdAt: Timestamp,
    disabledAt: Nullable(Timestamp),
  },
  { examples: [{ ...ALICE, createdAt: CREATED, disabledAt: null }] },
)

/** The account of the caller. */
export const Myself = Type.Object(
  {
    ...Person,
    plan: Type.Enum([...PLANS], { description: 'The plan of the workspace.' }),
    workspace: Type.Object(
      { id: Uuid, name: Type.String() },
      { description: 'The workspace that this request is for.' },
    ),
    role: Type.Enum([...ROLES], { description: 'The role of the account in the workspace.' }),
    via: Type.Enum(['token', 'session'], { description: 'How the request was authenticated.' }),
    secondFactorNeeded: Type.Optional(
      Type.Boolean({
        description: 'True where this service requires a second factor that this session lacks.',
      }),
    ),
  },
  {
    examples: [
      {
        ...ALICE,
        workspace: { id: ALICE.id, name: 'Example Hosting' },
        role: 'owner',
        via: 'token',
      },
    ],
  },
)

export const NewAccount = Type.Object(
  {
    email: Email,
    password: Password,
    name: Type.Optional(Name),
    plan: Type.Optional(PlanName),
    admin: Type.Optional(Type.Boolean()),
  },
  { examples: [{ email: ALICE.email, password: 'correct horse battery', plan: 'pro' }] },
)

/** The fields to change. */
export const AccountChange = Type.Object(
  {
    name: Type.Optional(Name),
    plan: Type.Optional(PlanName),
    admin: Type.Optional(Type.Boolean()),
  },
  { examples: [{ plan: 'business' }] },
)

export const AccountQuery = Type.Object({
  ...PageQuery.properties,
  q: SearchText,
  sort: OrderOf(ACCOUNT_ORDERS),
})
export const AccountPage = Type.Object({ accounts: Type.Array(Account), pagination: Pagination })
export const AuditEntry = Type.Object(
  {
    id: Uuid,
    at: Timestamp,
    actorId: Nullable(Uuid),
    actorEmail: Type.String({
      description:
        'Email of the person, also after the account is deleted. Without an account: “command line”, “owner of a mailbox”, or “Link in” and a channel.',
    }),
    token: Nullable(
      Type.Object({ id: Uuid, label: Type.String() }, { description: 'Also after it is revoked.' }),
      { description: 'The API token that made the change; null for a session.' },
    ),
    what: Type.String(),
    route: Type.String({ description: 'The route or the command.' }),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Fields of the request. Values that may be secret are replaced by “…”.',
    }),
  },
  {
    examples: [
      {
        id: TOKEN.id,
        at: CREATED,
        actorId: ALICE.id,
        actorEmail: ALICE.email,
        token: null,
        what: 'Change an account',
        route: 'PATCH /api/v1/accounts/:id',
        details: { id: '019a9d2e-8b1c-7a52-9f20-5d8e1f0c3b77', plan: 'business' },
      },
    ],
  },
)
export const AuditQuery = Type.Object({
  ...PageQuery.properties,
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only entries that contain this text in the email, action, route or details.',
    }),
  ),
  actor: Type.Optional(
    Type.String({ maxLength: 254, description: 'Only the actions of the person with this email.' }),
  ),
})
export const AuditPage = Type.Object({ entries: Type.Array(AuditEntry), pagination: Pagination })

const Scopes = Type.Array(Type.Enum([...SCOPES]), {
  minItems: 1,
  maxItems: SCOPES.length,
  description:
    'The modules that the token may read, or read and change: `dmarc:read`, `webhooks:write`, `*:read`.',
})
const TokenLimits = {
  scopes: Nullable(Scopes, {
    description: 'Null for everything that the role of its creator allows.',
  }),
  createdAt: Timestamp,
  expiresAt: Nullable(Timestamp, { description: 'Null for a token that does not expire.' }),
}

export const Token = Type.Object(
  {
    id: Uuid,
    label: Type.String(),
    lastFour: Type.String({ description: 'The last four characters, to identify the token.' }),
    ...TokenLimits,
    lastUsedAt: Nullable(Timestamp),
    createdBy: Type.Object(
      { accountId: Uuid, name: Type.String(), email: Type.String() },
      {
        description: 'The member for whom the token acts, with the role of the time of a request.',
      },
    ),
  },
  {
    examples: [
      {
        ...TOKEN,
        lastFour: '9Zx4',
        lastUsedAt: null,
        createdBy: { accountId: ALICE.id, name: ALICE.name, email: ALICE.email },
      },
    ],
  },
)

export const NewToken = Type.Object(
  {
    label: Type.Optional(Label),
    scopes: Type.Optional(Scopes),
    expiresInDays: Type.Optional(
      Type.Enum([...TOKEN_LIFETIMES], { description: 'By default, the token does not expire.' }),
    ),
  },
  { examples: [{ label: TOKEN.label, scopes: TOKEN.scopes, expiresInDays: 90 }] },
)

export const IssuedToken = Type.Object(
  {
    success: Type.Literal(true),
    token: Type.String({ description: 'Shown only once: only its hash is stored.' }),
    id: Uuid,
    label: Type.String(),
    lastFour: Type.String(),
    ...TokenLimits,
  },
  {
    examples: [{ success: true, token: `prv_${'x'.repeat(42)}9Zx4`, lastFour: '9Zx4', ...TOKEN }],
  },
)

export const Setup = Type.Object(
  {
    token: Type.String({ maxLength: 200, description: 'The part of the setup link after the #.' }),
    email: Email,
    password: Password,
    name: Type.Optional(Name),
  },
  {
    examples: [
      { token: '…', email: ALICE.email, password: 'correct horse battery', name: ALICE.name },
    ],
  },
)

export const QuotaUsage = Type.Object({
  name: Type.Enum([...QUOTAS]),
  used: Type.Integer({ description: 'Bytes.' }),
  limit: Type.Integer({ description: 'Bytes, set by the plan.' }),
  beyond: Type.String({ description: 'Effect of a full quota.' }),
})
const EXAMPLE = {
  name: 'captures' as const,
  used: 412_000_000,
  limit: 1_000_000_000,
  beyond: OVER_QUOTA_EFFECTS.captures,
}

export const Usage = Type.Object(
  { plan: PlanName, quotas: Type.Array(QuotaUsage) },
  { examples: [{ plan: 'free', quotas: [EXAMPLE] }] },
)
export const AccountUsagePage = Type.Object({
  accounts: Type.Array(Type.Object({ accountId: Uuid, ...Usage.properties })),
  pagination: Pagination,
})

/** How the account can be signed in to. */
export const SignInMethods = Type.Object({
  password: Type.Boolean({ description: 'Whether the account has a password.' }),
  authenticator: Type.Boolean({ description: 'Whether it has an authenticator app.' }),
  passkeys: Type.Integer({ description: 'Number of passkeys.' }),
  oidc: Nullable(
    Type.Boolean({
      description: 'Whether it is linked to single sign-on; null where that is not set up.',
    }),
  ),
})

/** Public information about the service. */
export const ServiceInfo = Type.Object({
  name: Type.Literal('Portreeve'),
  version: Type.String(),
  setupNeeded: Type.Boolean({ description: 'Whether no account exists yet.' }),
  signup: Type.Boolean({ description: 'Whether sign-up is open.' }),
  mail: Type.Boolean({ description: 'Whether email is configured.' }),
  passwordSignIn: Type.Boolean({ description: 'Whether people can sign in with a password.' }),
  passkeys: Type.Boolean({ description: 'Whether browsers offer passkeys at this address.' }),
  oidc: Nullable(
    Type.Object({ name: Type.String() }, { description: 'The OpenID provider, where one is set.' }),
  ),
})

nameComponents({
  SignInMethods,
  Account,
  Myself,
  NewAccount,
  AccountChange,
  AuditEntry,
  Token,
  NewToken,
  IssuedToken,
  Setup,
  ServiceInfo,
})
