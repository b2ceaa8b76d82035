import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { AddressPanel } from '../attacks/address-panel.tsx'
import { addressQuery, type Appeal } from '../attacks/api.ts'
import { AppealForm, AppealOutcome } from '../attacks/appeal-form.tsx'
import { LookUp } from '../attacks/look-up.tsx'
import { Card, Page, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { BulletList } from '../ui/lists/bullet-list.tsx'
import { useInView } from '../ui/forms/use-in-view.ts'

export function Screen() {
  const { ip } = useSearch({ from: '/open/address' })
  const navigate = useNavigate({ from: '/address' })
  return (
    <Page
      title={ip ? `Reports about ${ip}` : 'Was this address reported?'}
      lead={ip ? undefined : 'Servers tell this service who attacks them. Ask about any public address.'}
    >
      <LookUp ip={ip ?? ''} onAsk={(asked) => void navigate({ search: { ip: asked } })} autoFocus={!ip} />
      {ip && (
        <Card key={ip}>
          <Known ip={ip} />
        </Card>
      )}
      <HowItWorks />
    </Page>
  )
}

function Known({ ip }: { ip: string }) {
  const queries = useQueryClient()
  const [appeal, setAppeal] = useState<Appeal | null>(null)
  const outcome = useInView<HTMLDivElement>(appeal)

  function sent(made: Appeal): void {
    setAppeal(made)
    void queries.invalidateQueries(addressQuery(ip))
  }

  return (
    <Stack>
      <AddressPanel ip={ip}>{({ listed }) => listed && !appeal && <OffTheList ip={ip} onSent={sent} />}</AddressPanel>
      <div role="status" ref={outcome}>
        {appeal && <AppealOutcome {...appeal} />}
      </div>
    </Stack>
  )
}

function OffTheList(props: { ip: string; onSent: (appeal: Appeal) => void }) {
  return (
    <Section title="Is it yours? This is how it leaves">
      <BulletList ordered>
        <li>
          Look at the evidence: what was attacked, and when. Being listed does not mean that you did something bad. Most
          listed machines were taken over by somebody else.
        </li>
        <li>
          End the cause: a mail account with a stolen password, a router with its factory password, a website with an
          old plug-in. As long as it goes on, the address comes back.
        </li>
        <li>
          Ask to be taken off. From the listed address itself that is granted at once, once in thirty days. Appeals that
          others made do not matter.
        </li>
        <li>Or wait: without new reports every listing ends after seven days at the latest.</li>
      </BulletList>
      <AppealForm {...props} />
    </Section>
  )
}

function HowItWorks() {
  return (
    <Section title="How an address is listed">
      <Stack>
        <BulletList>
          <li>
            Networks count, not reports: one that reports a thousand times is still one network. Evidence halves every
            few days.
          </li>
          <li>
            An address is listed at a score of 60, and only when networks of different providers saw it attack,
            independently of each other. No single source can list an address.
          </li>
          <li>
            It leaves below a score of 35, or seven days after the last report. IPv6 addresses are counted by /64.
          </li>
          <li>
            Of a report the address, the service, the number of events and the time are kept for thirty days. Nobody
            learns who reported: each network has a pseudonym that differs from address to address.
          </li>
          <li>
            Which networks belong to one provider is known from data of <a href="https://db-ip.com">DB-IP</a>,{' '}
            <a href="https://www.routeviews.org">RouteViews</a> and the <a href="https://www.nro.net">NRO</a> (CC BY
            4.0).
          </li>
        </BulletList>
        <p>
          <Muted>How much is going on:</Muted> <Link to="/network">the network in numbers</Link>
        </p>
      </Stack>
    </Section>
  )
}
