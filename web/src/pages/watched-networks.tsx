import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
  networks,
  watchedQuery,
  WATCHED_KEY,
  type WatchedNetwork,
} from '../attacks/networks/api.ts'
import { networks as messages } from '../attacks/networks/messages.ts'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Page, Row, Section } from '../ui/layout/page.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { NetworkForm } from '../attacks/network-form.tsx'
import { ServerViews } from '../monitoring/server-views.tsx'

export function Screen() {
  const { data, error } = useQuery(watchedQuery)
  return (
    <Page title={messages.title} lead={messages.lead}>
      <ServerViews />
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data?.length === 0 && (
        <Empty icon="shield" title={messages.empty}>
          <p>{messages.emptyText}</p>
        </Empty>
      )}
      {data && data.length > 0 && (
        <List>
          {data.map((network) => (
            <Network key={network.id} network={network} />
          ))}
        </List>
      )}
      {data && (
        <Section title={messages.add}>
          <NetworkForm messages={messages} onAdd={networks.watch} queryKey={WATCHED_KEY} />
        </Section>
      )}
    </Page>
  )
}

function Network({
  network: { id, network, label, open, checkedAt },
}: {
  network: WatchedNetwork
}) {
  const access = useAccess()
  const queries = useQueryClient()

  async function remove(): Promise<void> {
    await networks.remove(id)
    await queries.invalidateQueries({ queryKey: WATCHED_KEY })
  }

  return (
    <ListItem
      title={
        <Link to="/attacks/networks/$id" params={{ id }}>
          {network}
        </Link>
      }
      action={
        <Row>
          {checkedAt === null ? (
            <Status tone="info">{messages.checking}</Status>
          ) : (
            <Status tone={open === 0 ? 'good' : 'bad'}>{messages.status(open)}</Status>
          )}
          <ConfirmButton
            {...access}
            label={messages.remove}
            about={network}
            title={messages.removeTitle(network)}
            onConfirm={remove}
          >
            {messages.removeText}
          </ConfirmButton>
        </Row>
      }
    >
      {label}
      {checkedAt && (
        <>
          {label && ' · '}
          {messages.checked} <Ago at={checkedAt} />
        </>
      )}
    </ListItem>
  )
}
