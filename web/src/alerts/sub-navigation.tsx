import { list as rules } from '../alert-rules/messages.ts'
import { messages as digest } from '../digest/messages.ts'
import { list as messages } from './messages.ts'
import { EXACT_PATH, SubNavigationLink, SubNavigation } from '../ui/navigation/sub-navigation.tsx'

export function AlertsSubNavigation() {
  return (
    <SubNavigation label={messages.title}>
      <SubNavigationLink to="/alerts" activeOptions={EXACT_PATH}>
        {messages.problems}
      </SubNavigationLink>
      <SubNavigationLink to="/alerts/history">{messages.history}</SubNavigationLink>
      <SubNavigationLink to="/alerts/channels">{messages.channels}</SubNavigationLink>
      <SubNavigationLink to="/alerts/rules">{rules.link}</SubNavigationLink>
      <SubNavigationLink to="/alerts/digest">{digest.title}</SubNavigationLink>
    </SubNavigation>
  )
}
