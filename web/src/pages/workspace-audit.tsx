import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { AuditFilter } from '../administration/api.ts'
import { AuditLog } from '../administration/audit-log.tsx'
import { accountQuery } from '../queries.ts'
import { Muted, Page } from '../ui/layout/page.tsx'
import { workspaceAuditQuery } from '../workspaces/api.ts'
import { WorkspaceNavigation } from '../workspaces/workspace-navigation.tsx'
import { audit as messages } from '../workspaces/messages.ts'

/** Changes in the workspace, with user, token, time and details. */
export function Screen() {
  const filter = useSearch({ from: '/own/workspace/audit' })
  const navigate = useNavigate({ from: '/workspace/audit' })
  const { data: account } = useQuery(accountQuery)
  const workspaceId = account?.workspace.id ?? ''
  const { data, error } = useQuery({
    ...workspaceAuditQuery(workspaceId, filter),
    placeholderData: keepPreviousData,
    enabled: workspaceId !== '',
  })
  const go = (changed: AuditFilter) =>
    void navigate({
      search: (before) => ({ ...before, page: undefined, ...changed }),
      replace: true,
    })
  return (
    <Page wide title={messages.title}>
      <WorkspaceNavigation />
      <Muted>{messages.lead}</Muted>
      <AuditLog
        caption={messages.caption}
        empty={messages.empty}
        filter={filter}
        data={data}
        error={error}
        onGo={go}
      />
    </Page>
  )
}
