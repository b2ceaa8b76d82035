import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { AuditScreen } from '../administration/audit-log.tsx'
import { accountQuery } from '../queries.ts'
import { workspaceAuditQuery } from '../workspaces/api.ts'
import { audit as messages } from '../workspaces/messages.ts'
import { CSV_PAGE_ROWS } from '../ui/lists/paged.ts'

/** Changes in the workspace, with user, token, time and details. */
export function Screen() {
  const filter = useSearch({ from: '/own/workspace/audit' })
  const queries = useQueryClient()
  const navigate = useNavigate({ from: '/workspace/audit' })
  const { data: account } = useQuery(accountQuery)
  const workspaceId = account?.workspace.id ?? ''
  const result = useQuery({
    ...workspaceAuditQuery(workspaceId, filter),
    placeholderData: keepPreviousData,
    enabled: workspaceId !== '',
  })
  return (
    <AuditScreen
      texts={messages}
      filter={filter}
      result={result}
      loadPage={(page) =>
        queries.fetchQuery(
          workspaceAuditQuery(workspaceId, { ...filter, page, limit: CSV_PAGE_ROWS }),
        )
      }
      onGo={(search) => void navigate({ search, replace: true })}
    />
  )
}
