import { useQuery } from '@tanstack/react-query'
import { channelsQuery } from '../alerts/api.ts'
import { ChannelCard } from '../alerts/channel-card.tsx'
import { NewChannel } from '../alerts/new-channel.tsx'
import { AlertsSubNavigation } from '../alerts/sub-navigation.tsx'
import { Card, Page, Section, Stack } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'

export function Screen() {
  const { data: channels, error } = useQuery(channelsQuery)
  return (
    <Page
      title="Alert channels"
      lead="Where you are told. A mail waits a minute for what else happens: a burst is one mail."
    >
      <AlertsSubNavigation />
      <LoadingOrError there={channels} error={error} lines={3}>
        Fetching your channels …
      </LoadingOrError>
      {channels && (
        <Section title="Your channels">
          <Stack rows>
            {channels.map((channel) => (
              <ChannelCard key={channel.id} channel={channel} />
            ))}
          </Stack>
        </Section>
      )}
      <Section title="Add a channel">
        <Card>
          <NewChannel />
        </Card>
      </Section>
    </Page>
  )
}
