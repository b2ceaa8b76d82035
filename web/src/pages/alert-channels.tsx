import { useQuery } from '@tanstack/react-query'
import { channelsQuery } from '../alerts/api.ts'
import { ChannelCard } from '../alerts/channel-card.tsx'
import { NewChannelForm } from '../alerts/new-channel.tsx'
import { channels as messages } from '../alerts/messages.ts'
import { AlertsSubNavigation } from '../alerts/sub-navigation.tsx'
import { Card, Page, Section, Stack } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'

export function Screen() {
  const { data: channels, error } = useQuery(channelsQuery)
  return (
    <Page title={messages.title} lead={messages.lead}>
      <AlertsSubNavigation />
      <LoadingOrError there={channels} error={error} lines={3} shape="cards">
        {messages.loading}
      </LoadingOrError>
      {channels && (
        <Section title={messages.yours}>
          <Stack rows>
            {channels.map((channel) => (
              <ChannelCard key={channel.id} channel={channel} />
            ))}
          </Stack>
        </Section>
      )}
      <Section title={messages.add}>
        <Card>
          <NewChannelForm />
        </Card>
      </Section>
    </Page>
  )
}
