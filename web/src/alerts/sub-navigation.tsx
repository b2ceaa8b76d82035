import { list as messages } from './messages.ts'
import { EXACT_PATH, SubNavigationLink, SubNavigation } from '../ui/navigation/sub-navigation.tsx'

export function AlertsSubNavigation() {
  return (
    <SubNavigation label={messages.title}>
      <SubNavigationLink to="/alerts" activeOptions={EXACT_PATH}>
        {messages.problems}
      </SubNavigationLink>
      <SubNavigationLink to="/alerts/history">{messages.history}</SubNavigationLink>
    </SubNavigation>
  )
}
