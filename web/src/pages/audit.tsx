import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { AdministrationNavigation } from '../administration/administration-navigation.tsx'
import { auditQuery, type AuditFilter } from '../administration/api.ts'
import { AuditLog } from '../administration/audit-log.tsx'
import { audit as messages } from '../administration/messages.ts'
import { Muted, Page } from '../ui/layout/page.tsx'

/** Administrator actions, with user, time and details. */
export function Screen() {
  const filter = useSearch({ from: '/own/administration/audit' })
  const navigate = useNavigate({ from: '/administration/audit' })
  const { data, error } = useQuery({ ...auditQuery(filter), placeholderData: keepPreviousData })
  const go = (changed: AuditFilter) =>
    void navigate({
      search: (before) => ({ ...before, page: undefined, ...changed }),
      replace: true,
    })
  return (
    <Page wide title={messages.title}>
      <AdministrationNavigation />
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
