import { useNavigate } from '@tanstack/react-router'
import { useSignOut } from '../../../account/use-sign-out.ts'
import { palette as messages } from '../../messages.ts'
import { reportProblem, type PaletteItem } from '../palette-items.ts'

/** Actions on the session, and those of the Account screen. */
export function useAccountItems(): PaletteItem[] {
  const navigate = useNavigate()
  const signOut = useSignOut()
  const openAccount = () => void navigate({ to: '/account' })
  const kind = messages.kinds.account
  return [
    {
      name: messages.signOut,
      kind,
      icon: 'leave',
      keywords: messages.signOutKeywords,
      open: () => void signOut().catch(reportProblem),
    },
    { name: messages.exportData, kind, icon: 'download', open: openAccount },
    { name: messages.deleteAccount, kind, icon: 'person', open: openAccount },
  ]
}
