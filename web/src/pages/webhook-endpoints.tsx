import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { StorageLine } from '../account/storage.tsx'
import { postCommand } from '../check/curl-commands.ts'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { Form, TextField } from '../ui/forms/form.tsx'
import { Card, Page, Section, Muted } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { endpointsQuery, webhooks } from '../webhooks/api.ts'
import { EndpointTable } from '../webhooks/endpoint-table.tsx'
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
          <EndpointTable endpoints={all.toReversed()} />
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
