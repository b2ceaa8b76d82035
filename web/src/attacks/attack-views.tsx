import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../queries.ts'
import { views } from './messages.ts'
import { EXACT_PATH, SubNavigationLink, SubNavigation } from '../ui/navigation/sub-navigation.tsx'

/** The screens of attack reporting. */
export function AttackViews() {
  const { data: account } = useQuery(accountQuery)
  return (
    <SubNavigation label={views.label}>
      <SubNavigationLink to="/attacks" activeOptions={EXACT_PATH}>
        {views.lookup}
      </SubNavigationLink>
      <SubNavigationLink to="/attacks/servers">{views.servers}</SubNavigationLink>
      <SubNavigationLink to="/attacks/fleet">{views.fleet}</SubNavigationLink>
      <SubNavigationLink to="/attacks/list">{views.list}</SubNavigationLink>
      <SubNavigationLink to="/attacks/connect">{views.connect}</SubNavigationLink>
      <SubNavigationLink to="/attacks/feeds">{views.feeds}</SubNavigationLink>
      <SubNavigationLink to="/attacks/relays">{views.relays}</SubNavigationLink>
      <SubNavigationLink to="/attacks/mails">{views.mails}</SubNavigationLink>
      <SubNavigationLink to="/attacks/networks">{views.networks}</SubNavigationLink>
      {account?.admin && (
        <>
          <SubNavigationLink to="/attacks/federation">{views.federation}</SubNavigationLink>
          <SubNavigationLink to="/attacks/administration">{views.administration}</SubNavigationLink>
        </>
      )}
    </SubNavigation>
  )
}
