import { EXACT, View, Views } from '../ui/navigation/sub-navigation.tsx'

export function AlertViews() {
  return (
    <Views label="Alerts">
      <View to="/alerts" activeOptions={EXACT}>
        What you were told
      </View>
      <View to="/alerts/channels">Channels</View>
    </Views>
  )
}
