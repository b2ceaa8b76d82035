import { EXACT_PATH, SubNavigationLink, SubNavigation } from '../ui/navigation/sub-navigation.tsx'

/** The screens of administration. */
export function AdministrationNavigation() {
  return (
    <SubNavigation label="Administration">
      <SubNavigationLink to="/administration" activeOptions={EXACT_PATH}>
        Health
      </SubNavigationLink>
      <SubNavigationLink to="/administration/accounts">Accounts</SubNavigationLink>
      <SubNavigationLink to="/administration/audit">Audit log</SubNavigationLink>
    </SubNavigation>
  )
}
