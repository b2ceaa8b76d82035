import { EXACT_PATH, SubNavigationLink, SubNavigation } from '../ui/navigation/sub-navigation.tsx'
import { navigation } from './messages.ts'

/** Navigation between the screens of the administration. */
export function AdministrationNavigation() {
  return (
    <SubNavigation label={navigation.label}>
      <SubNavigationLink to="/administration" activeOptions={EXACT_PATH}>
        {navigation.health}
      </SubNavigationLink>
      <SubNavigationLink to="/administration/accounts">{navigation.accounts}</SubNavigationLink>
      <SubNavigationLink to="/administration/workspaces">{navigation.workspaces}</SubNavigationLink>
      <SubNavigationLink to="/administration/mail-providers">
        {navigation.mailProviders}
      </SubNavigationLink>
      <SubNavigationLink to="/administration/audit">{navigation.audit}</SubNavigationLink>
    </SubNavigation>
  )
}
