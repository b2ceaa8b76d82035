import { Type } from 'typebox'
import { ROLES } from '../../http/access.ts'
import { nameComponents, Nullable, Pagination, Timestamp, Uuid } from '../../http/http-schema.ts'
import { SHOWN_NAME_NOT_BLANK } from '../../http/shown-name.ts'
import { Account, Email, Name, NAME_LENGTH, PlanName, QuotaUsage } from '../shapes.ts'

const EXAMPLE = {
  id: '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11',
  name: 'Example Hosting',
  role: 'owner' as const,
  plan: 'pro' as const,
  createdAt: '2026-11-21T12:00:00.000Z',
}
const BOB = {
  accountId: '019a9d2e-8b1c-7a52-9f20-5d8e1f0c3b77',
  email: 'bob@example.com',
  name: 'Bob',
}
const INVITATION = {
  id: '019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42',
  email: BOB.email,
  role: 'member' as const,
  invitedBy: { email: 'alice@example.com', name: 'Alice' },
  createdAt: EXAMPLE.createdAt,
  expiresAt: '2026-11-28T12:00:00.000Z',
}

/** Not blank: a list of workspaces shows nothing else of them. */
const WorkspaceName = Type.String({
  ...Name,
  pattern: SHOWN_NAME_NOT_BLANK,
  minLength: 1,
  maxLength: NAME_LENGTH,
})
const RoleName = Type.Enum([...ROLES])

/** A workspace of the caller. */
export const Workspace = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    role: Type.Enum([...ROLES], { description: 'The role of the caller.' }),
    plan: PlanName,
    members: Type.Integer({ description: 'Number of members.' }),
    createdAt: Timestamp,
    deleteAfter: Nullable(
      Type.String({
        format: 'date-time',
        description: 'Set for a deleted workspace: until then, an owner can restore it.',
      }),
    ),
    isCurrent: Type.Boolean({ description: 'Whether this request is for this workspace.' }),
  },
  { examples: [{ ...EXAMPLE, members: 3, deleteAfter: null, isCurrent: true }] },
)

export const NewWorkspace = Type.Object(
  { name: WorkspaceName },
  { examples: [{ name: EXAMPLE.name }] },
)
export const WorkspaceChange = Type.Object(
  { name: WorkspaceName },
  { examples: [{ name: EXAMPLE.name }] },
)
export const WorkspaceDeletion = Type.Object(
  {
    name: Type.String({
      maxLength: NAME_LENGTH,
      description: 'The name of the workspace, as a confirmation.',
    }),
  },
  { examples: [{ name: EXAMPLE.name }] },
)

export const Member = Type.Object(
  {
    accountId: Uuid,
    email: Type.String(),
    name: Type.String(),
    role: RoleName,
    joinedAt: Timestamp,
    isYou: Type.Boolean(),
  },
  { examples: [{ ...BOB, role: 'member', joinedAt: EXAMPLE.createdAt, isYou: false }] },
)
export const MemberChange = Type.Object({ role: RoleName }, { examples: [{ role: 'admin' }] })

const Inviter = Type.Object({ email: Type.String(), name: Type.String() })

const InvitationFields = {
  id: Uuid,
  email: Nullable(
    Type.String({
      description: 'The address that the accepting account must have; null for a link.',
    }),
  ),
  role: RoleName,
  invitedBy: Inviter,
  createdAt: Timestamp,
  expiresAt: Timestamp,
}
export const Invitation = Type.Object(InvitationFields, { examples: [INVITATION] })

export const NewInvitation = Type.Object(
  { email: Type.Optional(Email), role: RoleName },
  { examples: [{ email: INVITATION.email, role: INVITATION.role }] },
)
export const IssuedInvitation = Type.Object(
  {
    ...InvitationFields,
    url: Type.String({
      description: 'Opens the invitation. Shown only once: only its hash is stored.',
    }),
    isMailed: Type.Boolean({
      description: 'Whether an email is sent; if not, send the URL yourself.',
    }),
  },
  {
    examples: [
      {
        ...INVITATION,
        url: `https://portreeve.example/invitation#${'x'.repeat(43)}`,
        isMailed: true,
      },
    ],
  },
)

export const InvitationToken = Type.Object({
  token: Type.String({
    maxLength: 200,
    description: 'The part of the invitation URL after the #.',
  }),
})

/** The person who creates an account by an invitation to their address. */
export const InvitationSignUp = Type.Object({
  ...InvitationToken.properties,
  name: Type.String({ maxLength: 200 }),
  password: Type.String({ maxLength: 1_000 }),
})

/** The account that an invitation created. */
export const InvitedAccount = Type.Object({
  ...Account.properties,
  workspaceId: { ...Uuid, description: 'The workspace of the invitation.' } as typeof Uuid,
})

/** What an invitation offers, before it is accepted. */
export const InvitationPreview = Type.Object(
  {
    workspace: Type.String({ description: 'The name of the workspace.' }),
    role: RoleName,
    invitedBy: Inviter,
    email: InvitationFields.email,
    expiresAt: Timestamp,
  },
  {
    examples: [
      {
        workspace: EXAMPLE.name,
        role: INVITATION.role,
        invitedBy: INVITATION.invitedBy,
        email: INVITATION.email,
        expiresAt: INVITATION.expiresAt,
      },
    ],
  },
)

/** A workspace as administrators of the installation see it. */
export const InstalledWorkspace = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    plan: PlanName,
    owner: Nullable(
      Type.Object(
        { accountId: Uuid, email: Type.String() },
        { description: 'The first owner whose account is enabled.' },
      ),
    ),
    members: Type.Integer({ description: 'Number of members.' }),
    createdAt: Timestamp,
    deleteAfter: Nullable(Timestamp),
    quotas: Type.Array(QuotaUsage),
  },
  {
    examples: [
      {
        id: EXAMPLE.id,
        name: EXAMPLE.name,
        plan: EXAMPLE.plan,
        owner: { accountId: EXAMPLE.id, email: 'alice@example.com' },
        members: 3,
        createdAt: EXAMPLE.createdAt,
        deleteAfter: null,
        quotas: [],
      },
    ],
  },
)
export const InstalledWorkspacePage = Type.Object({
  workspaces: Type.Array(InstalledWorkspace),
  pagination: Pagination,
})
export const WorkspacePlanChange = Type.Object(
  { plan: PlanName },
  { examples: [{ plan: 'business' }] },
)

nameComponents({
  Workspace,
  NewWorkspace,
  WorkspaceChange,
  WorkspaceDeletion,
  Member,
  MemberChange,
  Invitation,
  NewInvitation,
  IssuedInvitation,
  InvitationPreview,
  InstalledWorkspace,
  WorkspacePlanChange,
})
