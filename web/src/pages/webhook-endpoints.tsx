import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { StorageLine } from '../account/storage.tsx'
import { postCommand } from '../check/curl-commands.ts'
import { Ago } from '../ui/text/ago.tsx'
import { CopyButton, Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { Form, TextField } from '../ui/forms/form.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Card, Page, Section, Muted } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'
import { endpointsQuery, webhooks, type Endpoint } from '../webhooks/api.ts'
import { endpoints } from '../webhooks/messages.ts'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const { data: all, error } = useQuery(endpointsQuery)
  return (
    <Page wide title={endpoints.title} lead={endpoints.lead} rail={<NewEndpoint />}>
      <LoadingOrError there={all} error={error} lines={3}>
        {endpoints.loading}
      </LoadingOrError>
      {all?.length === 0 && <NoEndpoint />}
      {all && all.length > 0 && (
        <Section title={endpoints.yours}>
          <StorageLine name="captures">{endpoints.storage}</StorageLine>
          <List>
            {all.toReversed().map((endpoint) => (
              <EndpointItem key={endpoint.id} {...endpoint} />
            ))}
          </List>
        </Section>
      )}
    </Page>
  )
}

function NewEndpoint() {
  const access = useAccess()
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function make({ label = '' }: Record<string, string>): Promise<void> {
    const { id } = await webhooks.create({ label: label.trim() })
    await queries.invalidateQueries(endpointsQuery)
    await navigate({ to: '/hooks/$id', params: { id } })
  }

  return (
    <Card>
      <Form {...access} onSubmit={make} submit={endpoints.create}>
        <TextField
          name="label"
          label={endpoints.name}
          hint={endpoints.nameHint}
          placeholder={endpoints.nameExample}
          maxLength={100}
          autoComplete="off"
        />
      </Form>
    </Card>
  )
}

function NoEndpoint() {
  return (
    <Empty icon="hook" title={endpoints.empty}>
      <p>
        <Muted>{endpoints.emptyHint}</Muted>
      </p>
      <Snippet what={endpoints.command} text={postCommand('/api/webhook/endpoints')} />
    </Empty>
  )
}

function EndpointItem({
  id,
  label,
  token,
  url,
  requestCount,
  responseStatus,
  createdAt,
}: Endpoint) {
  return (
    <ListItem
      title={
        <Link to="/hooks/$id" params={{ id }}>
          {label || token}
        </Link>
      }
      action={<CopyButton text={url} what={endpoints.copyUrl(label || token)} />}
    >
      <code>{url}</code>
      <br />
      {counted(requestCount, 'request')} · {endpoints.responds(responseStatus)} ·{' '}
      {endpoints.created} <Ago at={createdAt} />
    </ListItem>
  )
}
