import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type ApiToken } from '../api.ts'
import { accountQuery, tokensQuery } from '../queries.ts'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Muted } from '../ui/layout/page.tsx'
import type { Column } from '../ui/lists/column.ts'
import { DataTable } from '../ui/lists/data-table.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { counted } from '../ui/text/format.ts'
import { TextWithCode } from '../ui/text/text-with-code.tsx'
import { tokens as messages } from './messages.ts'
import { describeScopes } from './scopes.ts'

const nameOf = ({ label }: ApiToken) => label || messages.unnamed
const isExpired = ({ expiresAt }: ApiToken) =>
  expiresAt !== null && Date.parse(expiresAt) <= Date.now()

/** API tokens with their rights and dates. */
export function TokenTable({ tokens }: { tokens: ApiToken[] }) {
  const queries = useQueryClient()
  return (
    <DataTable
      caption={messages.yours}
      columns={COLUMNS}
      rows={tokens}
      rowId={({ id }) => id}
      nameOf={nameOf}
      count={(rows) => counted(rows, 'token')}
      filterLabel={messages.filter}
      actions={[
        {
          label: messages.revoke,
          kind: 'quiet',
          confirm: { title: messages.revokeSeveral, text: messages.revokeSeveralEffect },
          send: ({ id }) => api.revokeToken(id),
          onDone: () => queries.invalidateQueries(tokensQuery),
        },
      ]}
      csvName="api-tokens"
    />
  )
}

const COLUMNS: Column<ApiToken>[] = [
  {
    key: 'name',
    title: messages.columns.token,
    cell: (token) => <Name token={token} />,
    sort: nameOf,
    csv: nameOf,
  },
  {
    key: 'access',
    title: messages.columns.access,
    cell: ({ scopes }) => describeScopes(scopes),
    sort: ({ scopes }) => describeScopes(scopes),
    csv: ({ scopes }) => describeScopes(scopes),
  },
  { key: 'creator', title: messages.columns.creator, csv: ({ createdBy }) => createdBy.email },
  {
    key: 'created',
    title: messages.columns.created,
    labelled: true,
    cell: ({ createdAt }) => <DateText at={createdAt} />,
    sort: ({ createdAt }) => createdAt,
    descendsFirst: true,
    csv: ({ createdAt }) => createdAt,
  },
  {
    key: 'expires',
    title: messages.columns.expires,
    labelled: true,
    cell: (token) => <Expiry token={token} />,
    sort: ({ expiresAt }) => expiresAt,
    csv: ({ expiresAt }) => expiresAt,
  },
  {
    key: 'used',
    title: messages.columns.used,
    labelled: true,
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? <DateText at={lastUsedAt} /> : <Muted>{messages.never}</Muted>,
    sort: ({ lastUsedAt }) => lastUsedAt,
    descendsFirst: true,
    csv: ({ lastUsedAt }) => lastUsedAt,
  },
  { key: 'revoke', title: messages.columns.actions, cell: (token) => <Revoke token={token} /> },
]

function Name({ token }: { token: ApiToken }) {
  const { data: account } = useQuery(accountQuery)
  const { lastFour, createdBy } = token
  const isOwn = createdBy.accountId === account?.id
  return (
    <>
      {nameOf(token)}
      <small>
        <code>{messages.masked(lastFour)}</code>
        {!isOwn && ` ${messages.createdBy(createdBy.email)}`}
      </small>
    </>
  )
}

function Expiry({ token }: { token: ApiToken }) {
  const { expiresAt } = token
  if (expiresAt === null) return <Muted>{messages.never}</Muted>
  return (
    <>
      <DateText at={expiresAt} />
      {isExpired(token) && (
        <div>
          <Status tone="warn">{messages.expired}</Status>
        </div>
      )}
    </>
  )
}

function Revoke({ token }: { token: ApiToken }) {
  const queries = useQueryClient()
  const name = nameOf(token)

  async function revoke(): Promise<void> {
    await api.revokeToken(token.id)
    await queries.invalidateQueries(tokensQuery)
  }

  return (
    <ConfirmButton
      label={messages.revoke}
      about={name}
      title={messages.revokeTitle(name)}
      onConfirm={revoke}
    >
      <TextWithCode text={messages.revokeEffect(token.lastFour)} />
    </ConfirmButton>
  )
}
