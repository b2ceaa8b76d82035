import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Form } from '../ui/forms/form.tsx'
import { Columns, SectionList, Section } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { endpointQuery, endpointsQuery, webhooks, type Endpoint } from '../webhooks/api.ts'
import { DeleteEndpoint } from '../webhooks/endpoint-head.tsx'
import { ResponseSecret } from '../webhooks/response-secret.tsx'
import { AlertFields, ResponseFields, SignatureFields } from '../webhooks/settings-fields.tsx'
import { parseSettings, validateSettings } from '../webhooks/endpoint-settings.ts'
import { EndpointPage } from '../webhooks/endpoint-page.tsx'
import { settings } from '../webhooks/messages.ts'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/hooks/$id/settings' })
  const { data: endpoint, error } = useQuery(endpointQuery(id))
  return (
    <EndpointPage id={id} title={settings.title} wide>
      <LoadingOrError there={endpoint} error={error} lines={6} shape="form">
        {settings.loading}
      </LoadingOrError>
      {endpoint && <Settings endpoint={endpoint} />}
    </EndpointPage>
  )
}

function Settings({ endpoint }: { endpoint: Endpoint }) {
  const access = useAccess()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { id } = endpoint

  async function save(values: Record<string, string>): Promise<void> {
    const changed = await webhooks.change(id, parseSettings(values))
    queries.setQueryData(endpointQuery(id).queryKey, changed)
    await queries.invalidateQueries(endpointsQuery)
    await navigate({ to: '/hooks/$id', params: { id } })
  }

  return (
    <Columns>
      <Form
        {...access}
        onSubmit={save}
        check={(values) => validateSettings(values, endpoint)}
        submit={settings.save}
      >
        <ResponseFields endpoint={endpoint} />
        <SignatureFields endpoint={endpoint} />
        <AlertFields endpoint={endpoint} />
      </Form>
      <SectionList>
        {' '}
        <ResponseSecret endpoint={endpoint} />
        <Section title={settings.delete}>
          <DeleteEndpoint endpoint={endpoint} />
        </Section>
      </SectionList>
    </Columns>
  )
}
