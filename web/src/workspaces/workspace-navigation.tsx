import { EXACT_PATH, SubNavigationLink, SubNavigation } from '../ui/navigation/sub-navigation.tsx'
import { useHasRole } from './roles.ts'
import { navigation as messages } from './messages.ts'

/** Navigation between the screens of the workspace; two of them are for admins. */
export function WorkspaceNavigation() {
  const isAdmin = useHasRole('admin')
  return (
    <SubNavigation label={messages.label}>
      <SubNavigationLink to="/workspace" activeOptions={EXACT_PATH}>
        {messages.settings}
      </SubNavigationLink>
      <SubNavigationLink to="/workspace/members">{messages.members}</SubNavigationLink>
      {isAdmin && (
        <>
          <SubNavigationLink to="/workspace/invitations">{messages.invitations}</SubNavigationLink>
          <SubNavigationLink to="/workspace/audit">{messages.audit}</SubNavigationLink>
        </>
      )}
    </SubNavigation>
  )
}
