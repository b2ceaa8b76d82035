import { AddressLink } from '../../addresses/address-link.tsx'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { serviceUrl } from '../../base-path.ts'
import { Snippet } from '../../ui/actions/copy.tsx'
import { CheckField, Form } from '../../ui/forms/form.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { numberText } from '../../ui/text/format.ts'
import { useAccess } from '../../workspaces/roles.ts'
import { bouncersQuery, fleet, FLEET_KEY, settingsQuery, type Bouncer } from './api.ts'
import { crowdsec as messages } from './messages.ts'

/** How CrowdSec bouncers read the list, and those that do. */
export function CrowdSec() {
  const { data: settings } = useQuery(settingsQuery)
  const { data: bouncers = [] } = useQuery(bouncersQuery)
  return (
    <Section title={messages.title}>
      <p>
        <Muted>{messages.text}</Muted>
      </p>
      <Snippet what={messages.what} text={`api_url: ${serviceUrl()}/\napi_key: ${messages.key}`} />
      {settings && <SharedForm servesShared={settings.servesShared} />}
      {bouncers.length > 0 && (
        <Table quiet caption={messages.title} columns={messages.columns}>
          {bouncers.map((bouncer) => (
            <BouncerRow key={`${bouncer.address} ${bouncer.name}`} bouncer={bouncer} />
          ))}
        </Table>
      )}
    </Section>
  )
}

function SharedForm({ servesShared }: { servesShared: boolean }) {
  const access = useAccess()
  const queries = useQueryClient()

  async function save({ shared }: Record<string, string>): Promise<void> {
    await fleet.change({ servesShared: shared === 'on' })
    await queries.invalidateQueries({ queryKey: FLEET_KEY })
  }

  return (
    <Form {...access} onSubmit={save} submit={messages.save}>
      <CheckField name="shared" label={messages.shared} defaultChecked={servesShared} />
    </Form>
  )
}

function BouncerRow({ bouncer: { address, name, pulledAt, metrics } }: { bouncer: Bouncer }) {
  const dropped = metrics?.values['dropped packet'] ?? metrics?.values['dropped request']
  return (
    <tr>
      <td>{name}</td>
      <td>
        <AddressLink address={address} />
      </td>
      <td>
        <Ago at={pulledAt} />
      </td>
      <td>{dropped === undefined ? '–' : numberText(dropped)}</td>
    </tr>
  )
}
