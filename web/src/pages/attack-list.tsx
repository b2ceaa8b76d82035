import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { networkQuery, servicesQuery } from '../attacks/api.ts'
import { AttackViews } from '../attacks/attack-views.tsx'
import { EXPORT_FORMATS, listUrl } from '../attacks/commands.ts'
import { list as messages, views } from '../attacks/messages.ts'
import { Choice } from '../ui/forms/choice.tsx'
import { ButtonLink } from '../ui/actions/button.tsx'
import { CopyButton, Snippet } from '../ui/actions/copy.tsx'
import { Page, Row, Muted, Stack } from '../ui/layout/page.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { TabContent, Tabs } from '../ui/navigation/tabs.tsx'

/** The query of the page's URL: which format, and attackers of which service. */
export type ListSearch = { format?: string; service?: string }

export function Screen() {
  const { data: network } = useQuery(networkQuery)
  const { data: services, error } = useQuery(servicesQuery)
  const { format, service = '' } = useSearch({ from: '/own/attacks/list' })
  const navigate = useNavigate({ from: '/attacks/list' })
  const chosen = EXPORT_FORMATS.find(({ value }) => value === format) ?? EXPORT_FORMATS[0]
  if (!chosen) return null
  const url = listUrl(chosen.value, service)
  return (
    <Page
      title={messages.title}
      lead={messages.fresh}
      aside={<ButtonLink to="/attacks/feeds">{views.feeds}</ButtonLink>}
    >
      <AttackViews />
      {!services && !error && <Loading lines={6}>{messages.loading}</Loading>}
      <Stack>
        <Row>
          <Muted>{messages.attackersOf}</Muted>
          <ServiceChoice
            services={services ?? []}
            value={service}
            onChange={(one) =>
              void navigate({ search: (search) => ({ ...search, service: one || undefined }) })
            }
          />
        </Row>
        <Tabs
          label={messages.formats}
          tabs={EXPORT_FORMATS.map(({ value, name }) => ({ value, name }))}
          value={chosen.value}
          onChange={(one) =>
            void navigate({
              search: (search) => ({ ...search, format: one }),
              replace: true,
              resetScroll: false,
            })
          }
        >
          <TabContent>
            <p>{chosen.use}</p>
            <Snippet what={messages.command} text={chosen.load(url)} />
            {chosen.setup && (
              <>
                <p>{chosen.setup.text}</p>
                <Snippet what={messages.setup} text={chosen.setup.commands} />
              </>
            )}
            <Row>
              <CopyButton what={messages.url} label={messages.copyUrl} text={url} />
            </Row>
          </TabContent>
        </Tabs>
        {network && <Muted>{messages.count(network.listedIps)}</Muted>}
      </Stack>
    </Page>
  )
}

function ServiceChoice({
  services,
  value,
  onChange,
}: {
  services: { id: string; label: string }[]
  value: string
  onChange: (service: string) => void
}) {
  const choices = [
    { value: '', name: messages.anyService },
    ...services.map(({ id, label }) => ({ value: id, name: label })),
  ]
  return (
    <Choice
      label={messages.attackersOf}
      size="normal"
      choices={choices}
      value={value}
      onChange={onChange}
    />
  )
}
