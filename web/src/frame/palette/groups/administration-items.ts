import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { accountQuery } from '../../../queries.ts'
import { palette as messages } from '../../messages.ts'
import type { PaletteItem } from '../palette-items.ts'

/** The screens of the administration. */
export function useAdministrationItems(): PaletteItem[] {
  const navigate = useNavigate()
  const { data: account } = useQuery(accountQuery)
  if (!account?.admin) return []
  const kind = messages.kinds.administration
  return [
    {
      name: messages.accounts,
      kind,
      icon: 'person',
      open: () => void navigate({ to: '/administration/accounts' }),
    },
    {
      name: messages.workspaces,
      kind,
      icon: 'people',
      open: () => void navigate({ to: '/administration/workspaces' }),
    },
    {
      name: messages.mailProviders,
      kind,
      icon: 'key',
      open: () => void navigate({ to: '/administration/mail-providers' }),
    },
    {
      name: messages.auditLog,
      kind,
      icon: 'settings',
      keywords: messages.auditKeywords,
      open: () => void navigate({ to: '/administration/audit' }),
    },
  ]
}
