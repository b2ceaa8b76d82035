import { views } from './messages.ts'
import { EXACT_PATH, SubNavigationLink, SubNavigation } from '../ui/navigation/sub-navigation.tsx'

/** The screens of attack reporting. Its settings are among those of the workspace. */
export function AttackViews() {
  return (
    <SubNavigation label={views.label}>
      <SubNavigationLink to="/attacks" activeOptions={EXACT_PATH}>
        {views.dashboard}
      </SubNavigationLink>
      <SubNavigationLink to="/attacks/servers">{views.servers}</SubNavigationLink>
      <SubNavigationLink to="/attacks/fleet">{views.bans}</SubNavigationLink>
      <SubNavigationLink to="/attacks/list">{views.list}</SubNavigationLink>
    </SubNavigation>
  )
}
