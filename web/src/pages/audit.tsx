import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { administration, auditQuery } from '../administration/api.ts'
import { AuditScreen } from '../administration/audit-log.tsx'
import { audit as messages } from '../administration/messages.ts'
import { CSV_PAGE_ROWS } from '../ui/lists/paged.ts'

/** Administrator actions, with user, time and details. */
export function Screen() {
  const filter = useSearch({ from: '/own/administration/audit' })
  const navigate = useNavigate({ from: '/administration/audit' })
  const result = useQuery({ ...auditQuery(filter), placeholderData: keepPreviousData })
  return (
    <AuditScreen
      texts={messages}
      filter={filter}
      result={result}
      loadPage={(page) => administration.audit({ ...filter, page, limit: CSV_PAGE_ROWS })}
      onGo={(search) => void navigate({ search, replace: true })}
    />
  )
}
