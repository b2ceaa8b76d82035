import { LABELS_COLUMN, LabelLine } from '../labels/labels-column.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { deleteAllWithUndo } from '../deletions.ts'
import { CopyButton } from '../ui/actions/copy.tsx'
import { agoCell } from '../ui/lists/ago-cell.tsx'
import type { Column } from '../ui/lists/column.ts'
import { DataTable } from '../ui/lists/data-table.tsx'
import type { RowAction } from '../ui/lists/row-action.ts'
import { counted, numberText } from '../ui/text/format.ts'
import { useAccess } from '../workspaces/roles.ts'
import { endpointsQuery, webhooks, type Endpoint } from './api.ts'
import { endpoints as messages } from './messages.ts'

const nameOf = ({ label, token }: Endpoint) => label || token

/** The webhook endpoints of the workspace. */
export function EndpointTable({ endpoints }: { endpoints: Endpoint[] }) {
  return (
    <DataTable
      caption={messages.yours}
      columns={COLUMNS}
      rows={endpoints}
      rowId={({ id }) => id}
      nameOf={nameOf}
      count={(rows) => counted(rows, 'endpoint')}
      filterLabel={messages.filter}
      actions={useEndpointActions()}
      csvName="webhook-endpoints"
    />
  )
}

function useEndpointActions(): RowAction<Endpoint>[] {
  const access = useAccess()
  const queries = useQueryClient()
  return [
    {
      ...access,
      label: messages.delete,
      kind: 'quiet',
      apply: (rows) =>
        deleteAllWithUndo(queries, {
          rows,
          text: messages.deleting(rows.map(nameOf)),
          list: endpointsQuery.queryKey,
          send: ({ id }) => webhooks.remove(id),
          nameOf,
        }),
    },
  ]
}

const COLUMNS: Column<Endpoint>[] = [
  {
    key: 'name',
    title: messages.columns.name,
    cell: (endpoint) => (
      <>
        <Link to="/hooks/$id" params={{ id: endpoint.id }}>
          {nameOf(endpoint)}
        </Link>
        <small>
          <code>{endpoint.url}</code>
        </small>
        <LabelLine labels={endpoint.labels} />
      </>
    ),
    sort: nameOf,
    csv: ({ label }) => label,
  },
  { key: 'url', title: messages.columns.url, csv: ({ url }) => url },
  LABELS_COLUMN,
  {
    key: 'requests',
    title: messages.columns.requests,
    labelled: true,
    cell: ({ requestCount }) => numberText(requestCount),
    sort: ({ requestCount }) => requestCount,
    descendsFirst: true,
    csv: ({ requestCount }) => requestCount,
  },
  {
    key: 'responds',
    title: messages.columns.response,
    labelled: true,
    cell: ({ responseStatus }) => responseStatus,
    sort: ({ responseStatus }) => responseStatus,
    csv: ({ responseStatus }) => responseStatus,
  },
  {
    key: 'created',
    title: messages.columns.created,
    labelled: true,
    ...agoCell('createdAt'),
    sort: ({ createdAt }) => createdAt,
    descendsFirst: true,
  },
  {
    key: 'copy',
    title: messages.columns.copy,
    cell: (endpoint) => (
      <CopyButton text={endpoint.url} what={messages.copyUrl(nameOf(endpoint))} />
    ),
  },
]
