import { SubNavigationLink, SubNavigation } from '../ui/navigation/sub-navigation.tsx'
import { views as messages } from './messages.ts'

/** The lists of domains, and the tests of their mail. */
export function DomainViews() {
  return (
    <SubNavigation label={messages.label}>
      <SubNavigationLink to="/domains">{messages.domains}</SubNavigationLink>
      <SubNavigationLink to="/dmarc">{messages.dmarc}</SubNavigationLink>
      <SubNavigationLink to="/mail-tests">{messages.mailTests}</SubNavigationLink>
    </SubNavigation>
  )
}
