import { EXACT_PATH, SubNavigationLink, SubNavigation } from '../ui/navigation/sub-navigation.tsx'
import { views as messages } from './messages.ts'

/** The screens about servers and addresses. */
export function ServerViews() {
  return (
    <SubNavigation label={messages.label}>
      <SubNavigationLink to="/monitoring" activeOptions={EXACT_PATH}>
        {messages.hosts}
      </SubNavigationLink>
      <SubNavigationLink to="/delisting">{messages.delisting}</SubNavigationLink>
      <SubNavigationLink to="/attacks/networks">{messages.networks}</SubNavigationLink>
    </SubNavigation>
  )
}
