import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { serviceUrl } from '../base-path.ts'
import { ConnectSecretsForm, type ConnectSecrets } from '../attacks/connect/connect-secrets.tsx'
import { RECIPES, type Secrets } from '../attacks/connect/recipes.ts'
import { connect as messages, views } from '../attacks/messages.ts'
import { Snippet } from '../ui/actions/copy.tsx'
import { Card, Page, Stack } from '../ui/layout/page.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { TabContent, Tabs } from '../ui/navigation/tabs.tsx'

export function Screen() {
  const { tool } = useSearch({ from: '/own/attacks/connect' })
  const navigate = useNavigate({ from: '/attacks/connect' })
  const [created, setCreated] = useState<ConnectSecrets | null>(null)
  const chosen = RECIPES.find(({ value }) => value === tool) ?? RECIPES[0]
  if (!chosen) return null
  const secrets: Secrets = {
    url: serviceUrl(),
    token: created?.token ?? messages.tokenPlaceholder,
    key: created?.key ?? messages.keyPlaceholder,
  }
  return (
    <Page
      title={messages.title}
      lead={messages.lead}
      above={<BackLink to="/attacks/servers">{views.servers}</BackLink>}
    >
      <Card>
        <ConnectSecretsForm created={created} onCreated={setCreated} />
      </Card>
      <Tabs
        label={messages.programs}
        tabs={RECIPES.map(({ value, name }) => ({ value, name }))}
        value={chosen.value}
        onChange={(one) =>
          void navigate({ search: { tool: one }, replace: true, resetScroll: false })
        }
      >
        <TabContent>
          <Stack>
            <p>{chosen.use}</p>
            {chosen.steps(secrets).map(({ title, text }) => (
              <div key={title}>
                <p>
                  <code>{title}</code>
                </p>
                <Snippet wraps what={title} text={text} />
              </div>
            ))}
          </Stack>
        </TabContent>
      </Tabs>
    </Page>
  )
}
