import { useQueryClient } from '@tanstack/react-query'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import type { Column } from '../ui/lists/column.ts'
import { DataTable } from '../ui/lists/data-table.tsx'
import type { RowAction } from '../ui/lists/row-action.ts'
import { counted, numberText } from '../ui/text/format.ts'
import { useAccess } from '../workspaces/roles.ts'
import { attacks, reportTokensQuery, type ReportToken } from './api.ts'
import { servers as messages } from './messages.ts'

const nameOf = ({ label }: ReportToken) => label || messages.unnamed

/** Servers that report attacks, with their tokens. */
export function ServerTable({ tokens }: { tokens: ReportToken[] }) {
  return (
    <DataTable
      caption={messages.title}
      columns={COLUMNS}
      rows={tokens}
      rowId={({ id }) => id}
      nameOf={nameOf}
      count={(rows) => counted(rows, 'server')}
      filterLabel={messages.filter}
      actions={useTokenActions()}
      csvName="attack-servers"
    />
  )
}

function useTokenActions(): RowAction<ReportToken>[] {
  const access = useAccess()
  const queries = useQueryClient()
  return [
    {
      ...access,
      label: messages.revoke,
      kind: 'quiet',
      confirm: { title: messages.revokeSeveral, text: messages.revokeText },
      send: ({ id }) => attacks.revokeToken(id),
      onDone: () => queries.invalidateQueries(reportTokensQuery),
    },
  ]
}

const { reports, week, listed } = messages.columnLabels

const COLUMNS: Column<ReportToken>[] = [
  {
    key: 'server',
    title: messages.columns[0],
    cell: (token) => (
      <>
        {nameOf(token)}
        <small>
          <code>{messages.masked(token.lastFour)}</code>
        </small>
      </>
    ),
    sort: nameOf,
    csv: ({ label }) => label,
  },
  {
    key: 'reports',
    title: reports,
    labelled: true,
    cell: ({ totalReports }) => numberText(totalReports),
    sort: ({ totalReports }) => totalReports,
    descendsFirst: true,
    csv: ({ totalReports }) => totalReports,
  },
  {
    key: 'week',
    title: week,
    labelled: true,
    cell: ({ last7d }) => numberText(last7d),
    sort: ({ last7d }) => last7d,
    descendsFirst: true,
    csv: ({ last7d }) => last7d,
  },
  {
    key: 'listed',
    title: listed,
    labelled: true,
    cell: ({ currentlyListedFromMyReports }) => numberText(currentlyListedFromMyReports),
    sort: ({ currentlyListedFromMyReports }) => currentlyListedFromMyReports,
    descendsFirst: true,
    csv: ({ currentlyListedFromMyReports }) => currentlyListedFromMyReports,
  },
  { key: 'token', title: messages.columns[4], cell: (token) => <Revoke token={token} /> },
]

function Revoke({ token }: { token: ReportToken }) {
  const access = useAccess()
  const queries = useQueryClient()
  const name = nameOf(token)

  async function revoke(): Promise<void> {
    await attacks.revokeToken(token.id)
    await queries.invalidateQueries(reportTokensQuery)
  }

  return (
    <ConfirmButton
      {...access}
      label={messages.revoke}
      about={name}
      title={messages.revokeTitle(name)}
      onConfirm={revoke}
    >
      {messages.revokeText}
    </ConfirmButton>
  )
}
