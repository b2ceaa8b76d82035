import { EXACT, View, Views } from '../ui/views.tsx'

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
