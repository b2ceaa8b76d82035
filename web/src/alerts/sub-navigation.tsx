import { EXACT_PATH, SubNavigationLink, SubNavigation } from '../ui/navigation/sub-navigation.tsx'

export function AlertsSubNavigation() {
  return (
    <SubNavigation label="Alerts">
      <SubNavigationLink to="/alerts" activeOptions={EXACT_PATH}>
        What you were told
      </SubNavigationLink>
      <SubNavigationLink to="/alerts/channels">Channels</SubNavigationLink>
    </SubNavigation>
  )
}
