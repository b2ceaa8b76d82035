import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'
import { problemsOfQuery, problemsQuery, type Problems } from '../overview/problems.ts'
import { Button } from '../ui/actions/button.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Muted, Page } from '../ui/layout/page.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { workspacesQuery, type Workspace } from '../workspaces/api.ts'
import { useSwitchWorkspace } from '../workspaces/use-switch-workspace.ts'
import { overview as messages, switcher } from '../workspaces/messages.ts'

/** Workspaces whose problems are loaded at a time. */
const PAGE_ROWS = 10

/** The open problems of all workspaces of the account. */
export function Screen() {
  const { data: all, error } = useQuery(workspacesQuery)
  const [rows, setRows] = useState(PAGE_ROWS)
  const usable = all?.filter(({ deleteAfter }) => deleteAfter === null) ?? []
  return (
    <Page wide title={messages.title} lead={messages.lead}>
      <LoadingOrError there={all} error={error} lines={4}>
        {messages.loading}
      </LoadingOrError>
      <List>
        {usable.slice(0, rows).map((workspace) => (
          <WorkspaceItem key={workspace.id} workspace={workspace} />
        ))}
      </List>
      {usable.length > rows && (
        <div>
          <Button onClick={() => setRows(rows + PAGE_ROWS)}>{messages.more}</Button>
        </div>
      )}
    </Page>
  )
}

function WorkspaceItem({ workspace }: { workspace: Workspace }) {
  const switchWorkspace = useSwitchWorkspace()
  const { id, name, role, plan, isCurrent } = workspace
  return (
    <ListItem
      title={name}
      action={
        isCurrent ? (
          <Muted>{messages.current}</Muted>
        ) : (
          <Button size="small" onClick={() => void switchWorkspace(id)}>
            {messages.open} <VisuallyHidden>{name}</VisuallyHidden>
          </Button>
        )
      }
    >
      {isCurrent ? <OwnProblems /> : <OtherProblems workspaceId={id} />}
      <div>{switcher.details(role, plan)}</div>
    </ListItem>
  )
}

function OwnProblems() {
  return <Count {...useQuery(problemsQuery)} />
}

function OtherProblems({ workspaceId }: { workspaceId: string }) {
  return <Count {...useQuery(problemsOfQuery(workspaceId))} />
}

function Count({ data, error }: Pick<UseQueryResult<Problems>, 'data' | 'error'>) {
  if (error) return <Status tone="unknown">{messages.failed}</Status>
  if (data === undefined) return <Muted>{messages.checking}</Muted>
  const { count, missing } = data
  if (count === 0 && missing.length > 0) return <Status tone="unknown">{messages.failed}</Status>
  return <Status tone={count === 0 ? 'good' : 'warn'}>{messages.problems(count)}</Status>
}
