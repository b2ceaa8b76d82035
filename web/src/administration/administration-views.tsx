import { EXACT, View, Views } from '../ui/navigation/sub-navigation.tsx'

/** The screens of administration. */
export function AdministrationViews() {
  return (
    <Views label="Administration">
      <View to="/administration" activeOptions={EXACT}>
        Health
      </View>
      <View to="/administration/accounts">Accounts</View>
      <View to="/administration/audit">Audit log</View>
    </Views>
  )
}
