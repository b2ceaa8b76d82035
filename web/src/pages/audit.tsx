import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { AdministrationNavigation } from '../administration/administration-navigation.tsx'
import { auditQuery } from '../administration/api.ts'
import { AuditScreen } from '../administration/audit-log.tsx'
import { audit as messages } from '../administration/messages.ts'

/** Administrator actions, with user, time and details. */
export function Screen() {
  const filter = useSearch({ from: '/own/administration/audit' })
  const navigate = useNavigate({ from: '/administration/audit' })
  const result = useQuery({ ...auditQuery(filter), placeholderData: keepPreviousData })
  return (
    <AuditScreen
      texts={messages}
      navigation={<AdministrationNavigation />}
      filter={filter}
      result={result}
      onGo={(search) => void navigate({ search, replace: true })}
    />
  )
}
