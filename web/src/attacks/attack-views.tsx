import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../queries.ts'
import { EXACT_PATH, SubNavigationLink, SubNavigation } from '../ui/navigation/sub-navigation.tsx'

/** The screens of attack reporting. */
export function AttackViews() {
  const { data: account } = useQuery(accountQuery)
  return (
    <SubNavigation label="Attack reporting">
      <SubNavigationLink to="/attacks" activeOptions={EXACT_PATH}>
        Look-up
      </SubNavigationLink>
      <SubNavigationLink to="/attacks/servers">Your servers</SubNavigationLink>
      <SubNavigationLink to="/attacks/list">The list</SubNavigationLink>
      {account?.admin && <SubNavigationLink to="/attacks/administration">Administration</SubNavigationLink>}
    </SubNavigation>
  )
}
