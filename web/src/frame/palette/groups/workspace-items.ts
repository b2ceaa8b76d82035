import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { workspacesQuery } from '../../../workspaces/api.ts'
import { palette as messages } from '../../../workspaces/messages.ts'
import { useHasRole } from '../../../workspaces/roles.ts'
import { useSwitchWorkspace } from '../../../workspaces/use-switch-workspace.ts'
import type { PaletteItem } from '../palette-items.ts'

/** The members of the workspace, and the other workspaces of the account. */
export function useWorkspaceItems(): PaletteItem[] {
  const navigate = useNavigate()
  const switchWorkspace = useSwitchWorkspace()
  const isAdmin = useHasRole('admin')
  const { data: all = [] } = useQuery(workspacesQuery)
  const { kind } = messages
  const others = all.filter(({ isCurrent, deleteAfter }) => !isCurrent && deleteAfter === null)
  const members: PaletteItem = {
    name: messages.members,
    kind,
    icon: 'people',
    open: () => void navigate({ to: '/workspace/members' }),
  }
  const invite: PaletteItem = {
    name: messages.invite,
    kind,
    icon: 'plus',
    open: () => void navigate({ to: '/workspace/invitations' }),
  }
  return [
    members,
    ...(isAdmin ? [invite] : []),
    ...others.map(({ id, name }): PaletteItem => ({
      id,
      name: messages.switchTo(name),
      kind,
      icon: 'people',
      open: () => void switchWorkspace(id),
    })),
  ]
}
