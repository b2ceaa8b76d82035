import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { networkQuery, servicesQuery } from '../attacks/api.ts'
import { AttackViews } from '../attacks/attack-views.tsx'
import { listUrl, TAKINGS } from '../attacks/commands.ts'
import { Choice } from '../ui/forms/choice.tsx'
import { CopyButton, Snippet } from '../ui/actions/copy.tsx'
import { Page, Row, Muted, Stack } from '../ui/layout/page.tsx'
import { TabContent, Tabs } from '../ui/navigation/tabs.tsx'
import { counted } from '../ui/text/format.ts'

/** What the address of the screen says about the list that is wanted. */
export type ListSearch = { format?: string; service?: string }

const FRESH = 'A change is in it within fifteen seconds, so fetch it as often as you like.'

export function Screen() {
  const { data: network } = useQuery(networkQuery)
  const { format, service = '' } = useSearch({ from: '/own/attacks/list' })
  const navigate = useNavigate({ from: '/attacks/list' })
  const taking = TAKINGS.find(({ value }) => value === format) ?? TAKINGS[0]
  if (!taking) return null
  const url = listUrl(taking.value, service)
  return (
    <Page
      title="The list"
      lead={[network && `${counted(network.listedIps, 'address', 'addresses')} now.`, FRESH].filter(Boolean).join(' ')}
    >
      <AttackViews />
      <Stack>
        <Row>
          <Muted>Attackers of</Muted>
          <ServiceChoice
            value={service}
            onChange={(chosen) => void navigate({ search: (search) => ({ ...search, service: chosen || undefined }) })}
          />
        </Row>
        <Tabs
          label="Formats"
          tabs={TAKINGS.map(({ value, name }) => ({ value, name }))}
          value={taking.value}
          onChange={(chosen) =>
            void navigate({ search: (search) => ({ ...search, format: chosen }), replace: true, resetScroll: false })
          }
        >
          <TabContent>
            <p>{taking.words}</p>
            <Snippet what="the command" text={taking.load(url)} />
            {taking.once && (
              <>
                <p>{taking.once.words}</p>
                <Snippet what="what is done once" text={taking.once.text} />
              </>
            )}
            <Row>
              <CopyButton what="the address of the list" label="Copy the address of the list" text={url} />
            </Row>
          </TabContent>
        </Tabs>
      </Stack>
    </Page>
  )
}

function ServiceChoice({ value, onChange }: { value: string; onChange: (service: string) => void }) {
  const { data: services = [] } = useQuery(servicesQuery)
  const choices = [{ value: '', name: 'anything' }, ...services.map(({ id, label }) => ({ value: id, name: label }))]
  return <Choice label="Attackers of" size="normal" choices={choices} value={value} onChange={onChange} />
}
