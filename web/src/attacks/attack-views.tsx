import { useQuery } from '@tanstack/react-query'
import { accountQuery } from '../queries.ts'
import { EXACT, View, Views } from '../ui/navigation/sub-navigation.tsx'

/** The screens of attack reporting. */
export function AttackViews() {
  const { data: account } = useQuery(accountQuery)
  return (
    <Views label="Attack reporting">
      <View to="/attacks" activeOptions={EXACT}>
        Look-up
      </View>
      <View to="/attacks/servers">Your servers</View>
      <View to="/attacks/list">The list</View>
      {account?.admin && <View to="/attacks/administration">Administration</View>}
    </Views>
  )
}
