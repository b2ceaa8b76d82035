import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { serviceUrl } from '../base-path.ts'
import { AddressPanel } from '../attacks/address-panel.tsx'
import { AttackViews } from '../attacks/attack-views.tsx'
import { LookupForm } from '../attacks/lookup-form.tsx'
import { overview as messages } from '../attacks/messages.ts'
import { NetworkPanel } from '../attacks/network-panel.tsx'
import { CopyButton } from '../ui/actions/copy.tsx'
import { Card, Page, Row, Section, Stack } from '../ui/layout/page.tsx'

export function Screen() {
  const { ip, day } = useSearch({ from: '/own/attacks' })
  const navigate = useNavigate({ from: '/attacks' })
  return (
    <Page title={messages.title} lead={messages.lead}>
      <AttackViews />
      <Stack>
        <LookupForm ip={ip ?? ''} onAsk={(asked) => void navigate({ search: { ip: asked } })} />
        {ip !== undefined && <AddressCard ip={ip} />}
      </Stack>
      <Section title={messages.network}>
        <NetworkPanel day={day} opens />
      </Section>
    </Page>
  )
}

function AddressCard({ ip }: { ip: string }) {
  return (
    <Card>
      <AddressPanel ip={ip}>
        {({ listed }) => (
          <Row>
            <CopyButton
              what={messages.publicPage}
              label={messages.copyPublicPage}
              text={`${serviceUrl()}/address?ip=${encodeURIComponent(ip)}`}
            />
            {listed && (
              <Link to="/address" search={{ ip }}>
                {messages.appeal}
              </Link>
            )}
          </Row>
        )}
      </AddressPanel>
    </Card>
  )
}
