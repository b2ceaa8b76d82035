import { useQuery } from '@tanstack/react-query'
import { channelsQuery, channelTypesQuery } from '../alerts/api.ts'
import { ChannelCard } from '../alerts/channels/channel-card.tsx'
import { ChannelSuggestions } from '../alerts/channels/channel-suggestions.tsx'
import { page as messages } from '../alerts/channels/messages.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Page, Section, Stack } from '../ui/layout/page.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const access = useAccess()
  const { data: all, error } = useQuery(channelsQuery)
  // With the names and fields of their services, so that nothing changes in the cards.
  const { data: types, error: typesError } = useQuery(channelTypesQuery)
  const channels = types && all
  return (
    <Page
      title={messages.title}
      lead={messages.lead}
      aside={
        <ButtonLink {...access} to="/alerts/channels/new" kind="primary" icon="plus">
          {messages.add}
        </ButtonLink>
      }
    >
      <LoadingOrError there={channels} error={error ?? typesError} lines={3} shape="cards">
        {messages.loading}
      </LoadingOrError>
      {channels?.length === 0 && (
        <Empty icon="bell" title={messages.none}>
          <p>{messages.noneHint}</p>
        </Empty>
      )}
      {channels && channels.length > 0 && (
        <Section title={messages.yours}>
          <Stack rows>
            {channels.map((channel) => (
              <ChannelCard key={channel.id} channel={channel} />
            ))}
          </Stack>
        </Section>
      )}
      {channels && channels.length < 2 && <ChannelSuggestions />}
    </Page>
  )
}
