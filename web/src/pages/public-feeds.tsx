import { useQuery } from '@tanstack/react-query'
import { feedsQuery, type PublicFeed } from '../attacks/feeds/api.ts'
import { ExportSection } from '../attacks/feeds/export-section.tsx'
import { FeedCard } from '../attacks/feeds/feed-card.tsx'
import { feeds as messages } from '../attacks/feeds/messages.ts'
import { views } from '../attacks/messages.ts'
import { accountQuery } from '../queries.ts'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Muted, Page, Section, Stack } from '../ui/layout/page.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  const { data, error } = useQuery(feedsQuery)
  const names = new Map(data?.map(({ id, name }) => [id, name]))
  const own: Record<string, string> = { fleet: messages.fleet, shared: messages.shared }
  const nameOf = (list: string) => own[list] ?? names.get(list) ?? list
  const enabled = data?.filter((feed) => feed.enabled) ?? []
  const others = data?.filter((feed) => !feed.enabled) ?? []
  return (
    <Page
      title={messages.title}
      lead={messages.lead}
      above={<BackLink to="/attacks/list">{views.list}</BackLink>}
    >
      <LoadingOrError there={data} error={error} lines={6}>
        {messages.loading}
      </LoadingOrError>
      {data && account && !account.admin && enabled.length === 0 && (
        <p>
          <Muted>{messages.askAdministrator}</Muted>
        </p>
      )}
      {enabled.length > 0 && (
        <FeedSection title={messages.enabled} feeds={enabled} nameOf={nameOf} />
      )}
      {enabled.length > 0 && <ExportSection />}
      {others.length > 0 && (
        <FeedSection title={messages.available} feeds={others} nameOf={nameOf} />
      )}
    </Page>
  )
}

type FeedSectionProps = { title: string; feeds: PublicFeed[]; nameOf: (list: string) => string }

function FeedSection({ title, feeds, nameOf }: FeedSectionProps) {
  return (
    <Section title={title}>
      <Stack>
        {feeds.map((feed) => (
          <FeedCard key={feed.id} feed={feed} nameOf={nameOf} />
        ))}
      </Stack>
    </Section>
  )
}
