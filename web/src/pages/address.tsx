import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { AddressPanel } from '../attacks/address-panel.tsx'
import { addressQuery, type Appeal } from '../attacks/api.ts'
import { AppealForm, AppealOutcome } from '../attacks/appeal-form.tsx'
import { LookupForm } from '../attacks/lookup-form.tsx'
import { publicPage as messages } from '../attacks/messages.ts'
import { Card, Page, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { BulletList } from '../ui/lists/bullet-list.tsx'
import { useInView } from '../ui/forms/use-in-view.ts'

export function Screen() {
  const { ip } = useSearch({ from: '/open/address' })
  const navigate = useNavigate({ from: '/address' })
  return (
    <Page title={ip ? messages.title(ip) : messages.untitled} lead={ip ? undefined : messages.lead}>
      <LookupForm
        ip={ip ?? ''}
        onAsk={(asked) => void navigate({ search: { ip: asked } })}
        autoFocus={!ip}
      />
      {ip && (
        <Card key={ip}>
          <Address ip={ip} />
        </Card>
      )}
      <ListingRules />
    </Page>
  )
}

function Address({ ip }: { ip: string }) {
  const queries = useQueryClient()
  const [appeal, setAppeal] = useState<Appeal | null>(null)
  const outcome = useInView<HTMLDivElement>(appeal)

  function sent(made: Appeal): void {
    setAppeal(made)
    void queries.invalidateQueries(addressQuery(ip))
  }

  return (
    <Stack>
      <AddressPanel ip={ip}>
        {({ listed }) => listed && !appeal && <Delisting ip={ip} onSent={sent} />}
      </AddressPanel>
      <div role="status" ref={outcome}>
        {appeal && <AppealOutcome {...appeal} />}
      </div>
    </Stack>
  )
}

function Delisting(props: { ip: string; onSent: (appeal: Appeal) => void }) {
  return (
    <Section title={messages.delist}>
      <BulletList ordered>
        {messages.delistSteps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </BulletList>
      <AppealForm {...props} />
    </Section>
  )
}

function ListingRules() {
  return (
    <Section title={messages.rules}>
      <Stack>
        <BulletList>
          {messages.ruleList.map((rule) => (
            <li key={rule}>{rule}</li>
          ))}
          <li>
            {messages.providers.before}
            <a href="https://db-ip.com">{messages.providers.names[0]}</a>
            {messages.providers.between}
            <a href="https://www.routeviews.org">{messages.providers.names[1]}</a>
            {messages.providers.last}
            <a href="https://www.nro.net">{messages.providers.names[2]}</a>
            {messages.providers.after}
          </li>
        </BulletList>
        <p>
          <Muted>{messages.activity}</Muted> <Link to="/network">{messages.statistics}</Link>
        </p>
      </Stack>
    </Section>
  )
}
