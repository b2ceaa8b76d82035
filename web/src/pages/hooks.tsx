import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { StorageLine } from '../account/storage.tsx'
import { postCommand } from '../check/curl.ts'
import { Ago } from '../ui/text/ago.tsx'
import { CopyButton, Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { Form, TextField } from '../ui/forms/form.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Card, Page, Section, Muted } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'
import { endpointsQuery, webhooks, type Endpoint } from '../webhooks/api.ts'

export function Screen() {
  const { data: endpoints, error } = useQuery(endpointsQuery)
  return (
    <Page
      title="Webhooks"
      lead="An endpoint is an address that keeps every request sent to it, byte for byte, and answers as you say."
    >
      <NewEndpoint />
      <LoadingOrError there={endpoints} error={error} lines={3}>
        Fetching your endpoints …
      </LoadingOrError>
      {endpoints?.length === 0 && <NoEndpoint />}
      {endpoints && endpoints.length > 0 && (
        <Section title="Your endpoints">
          <StorageLine name="captures">the oldest requests are removed first</StorageLine>
          <List>
            {endpoints.toReversed().map((endpoint) => (
              <EndpointItem key={endpoint.id} {...endpoint} />
            ))}
          </List>
        </Section>
      )}
    </Page>
  )
}

function NewEndpoint() {
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function make({ label = '' }: Record<string, string>): Promise<void> {
    const { id } = await webhooks.make({ label: label.trim() })
    await queries.invalidateQueries(endpointsQuery)
    await navigate({ to: '/hooks/$id', params: { id } })
  }

  return (
    <Card>
      <Form onSubmit={make} submit="Make an endpoint">
        <TextField
          name="label"
          label="What will send to it?"
          hint="A name for yourself; may stay empty."
          placeholder="shop orders"
          maxLength={100}
          autoComplete="off"
        />
      </Form>
    </Card>
  )
}

function NoEndpoint() {
  return (
    <Empty icon="hook" title="You have no endpoint yet">
      <p>
        <Muted>Make one above, or from a program; the answer has its address:</Muted>
      </p>
      <Snippet what="the command" text={postCommand('/api/webhook/endpoints')} />
    </Empty>
  )
}

function EndpointItem({ id, label, token, url, requestCount, responseStatus, createdAt }: Endpoint) {
  return (
    <ListItem
      title={
        <Link to="/hooks/$id" params={{ id }}>
          {label || token}
        </Link>
      }
      action={<CopyButton text={url} what={`the address of ${label || token}`} />}
    >
      <code>{url}</code>
      <br />
      {counted(requestCount, 'request')} · answers {responseStatus} · made <Ago at={createdAt} />
    </ListItem>
  )
}
