import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { AddressPanel } from '../attacks/address-panel.tsx'
import { AttackViews } from '../attacks/attack-views.tsx'
import { LookUp } from '../attacks/look-up.tsx'
import { NetworkPanel } from '../attacks/network-panel.tsx'
import { CopyButton } from '../ui/actions/copy.tsx'
import { Card, Page, Row, Section, Stack } from '../ui/layout/page.tsx'

export function Screen() {
  const { ip } = useSearch({ from: '/own/attacks' })
  const navigate = useNavigate({ from: '/attacks' })
  return (
    <Page
      title="Attack reporting"
      lead="Servers tell who attacks them. What enough of them tell, independently of each other, becomes one list worth blocking."
    >
      <AttackViews />
      <Stack>
        <LookUp ip={ip ?? ''} onAsk={(asked) => void navigate({ search: { ip: asked } })} />
        {ip !== undefined && <Known ip={ip} />}
      </Stack>
      <Section title="The network">
        <NetworkPanel />
      </Section>
    </Page>
  )
}

function Known({ ip }: { ip: string }) {
  return (
    <Card>
      <AddressPanel ip={ip}>
        {({ listed }) => (
          <Row>
            <CopyButton
              what="the public page of this address"
              label="Copy the public page"
              text={`${window.location.origin}/address?ip=${encodeURIComponent(ip)}`}
            />
            {listed && (
              <Link to="/address" search={{ ip }}>
                Appeal against the listing
              </Link>
            )}
          </Row>
        )}
      </AddressPanel>
    </Card>
  )
}
