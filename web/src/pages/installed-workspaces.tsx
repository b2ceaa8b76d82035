import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import {
  administration,
  installedWorkspacesQuery,
  type InstalledWorkspaceRow,
  type InstalledWorkspaces,
} from '../administration/api.ts'
import { PLANS, type Plan } from '../administration/plans.ts'
import { updateOptimistically } from '../optimistic-update.ts'
import { accountQuery } from '../queries.ts'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { Muted, Page } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { numberText, sizeText } from '../ui/text/format.ts'
import { workspaces as messages } from '../administration/messages.ts'

/** All workspaces of this service. Their plans are changed in place. */
export function Screen() {
  const { page = 1 } = useSearch({ from: '/own/administration/workspaces' })
  const navigate = useNavigate({ from: '/administration/workspaces' })
  const { data, error } = useQuery({
    ...installedWorkspacesQuery(page),
    placeholderData: keepPreviousData,
  })
  return (
    <Page wide title={messages.title}>
      <LoadingOrError there={data} error={error} lines={4}>
        {messages.loading}
      </LoadingOrError>
      {data && (
        <div>
          <WorkspaceTable workspaces={data.workspaces} page={page} />
          <PaginationLinks
            {...data.pagination}
            onGo={(to) => void navigate({ search: { page: to } })}
          />
        </div>
      )}
    </Page>
  )
}

type WorkspaceTableProps = { workspaces: InstalledWorkspaceRow[]; page: number }

function WorkspaceTable({ workspaces, page }: WorkspaceTableProps) {
  const queries = useQueryClient()
  const { queryKey } = installedWorkspacesQuery(page)
  const [problem, setProblem] = useState('')

  function change(id: string, plan: Plan): void {
    const apply = (before: InstalledWorkspaces): InstalledWorkspaces => ({
      ...before,
      workspaces: before.workspaces.map((each) => (each.id === id ? { ...each, plan } : each)),
    })
    setProblem('')
    updateOptimistically(queries, queryKey, apply, () =>
      administration.changeWorkspacePlan(id, plan),
    ).then(
      () => queries.invalidateQueries(accountQuery),
      (error: Error) => setProblem(error.message),
    )
  }

  return (
    <>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <Table caption={messages.title} quiet columns={messages.columns}>
        {workspaces.map((workspace) => (
          <WorkspaceRow
            key={workspace.id}
            workspace={workspace}
            onChange={(plan) => change(workspace.id, plan)}
          />
        ))}
      </Table>
    </>
  )
}

function WorkspaceRow({
  workspace: { name, owner, plan, members, quotas, createdAt, deleteAfter },
  onChange,
}: {
  workspace: InstalledWorkspaceRow
  onChange: (plan: Plan) => void
}) {
  const storedBytes = quotas.reduce((sum, { used }) => sum + used, 0)
  return (
    <tr>
      <th scope="row">
        {name}
        {deleteAfter && (
          <small>
            {messages.deletedUntil} <DateText at={deleteAfter} />
          </small>
        )}
      </th>
      <td data-label={messages.owner}>{owner?.email ?? <Muted>{messages.noOwner}</Muted>}</td>
      <td>
        <Choice label={messages.planOf(name)} choices={PLANS} value={plan} onChange={onChange} />
      </td>
      <td data-label={messages.members}>{numberText(members)}</td>
      <td data-label={messages.storage}>{sizeText(storedBytes)}</td>
      <td data-label={messages.created}>
        <Muted>
          <Ago at={createdAt} />
        </Muted>
      </td>
    </tr>
  )
}
