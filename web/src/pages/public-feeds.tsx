import { useQuery } from '@tanstack/react-query'
import { AttackViews } from '../attacks/attack-views.tsx'
import { feedsQuery } from '../attacks/feeds/api.ts'
import { ExportSection } from '../attacks/feeds/export-section.tsx'
import { FeedCard } from '../attacks/feeds/feed-card.tsx'
import { feeds as messages } from '../attacks/feeds/messages.ts'
import { accountQuery } from '../queries.ts'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Muted, Page, Stack } from '../ui/layout/page.tsx'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  const { data, error } = useQuery(feedsQuery)
  const names = new Map(data?.map(({ id, name }) => [id, name]))
  const own: Record<string, string> = { fleet: messages.fleet, shared: messages.shared }
  const nameOf = (list: string) => own[list] ?? names.get(list) ?? list
  const enabled = data?.filter((feed) => feed.enabled) ?? []
  const others = data?.filter((feed) => !feed.enabled) ?? []
  return (
    <Page title={messages.title} lead={messages.lead}>
      <AttackViews />
      <LoadingOrError there={data} error={error} lines={6}>
        {messages.loading}
      </LoadingOrError>
      <Stack>
        {data && account && !account.admin && enabled.length === 0 && (
          <Muted>{messages.askAdministrator}</Muted>
        )}
        {[...enabled, ...others].map((feed) => (
          <FeedCard key={feed.id} feed={feed} nameOf={nameOf} />
        ))}
      </Stack>
      {enabled.length > 0 && <ExportSection />}
    </Page>
  )
}
