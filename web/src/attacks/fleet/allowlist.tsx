import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { List, ListItem } from '../../ui/lists/list.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { allowlistQuery, fleet, FLEET_KEY, type Allowlist as Facts } from './api.ts'
import { allowlist as messages } from './messages.ts'
import { NetworkForm } from '../network-form.tsx'

/** Networks that are never banned, with a form that adds one. */
export function Allowlist() {
  const { data, error } = useQuery(allowlistQuery)
  return (
    <Section title={messages.title}>
      <p>
        <Muted>{messages.text}</Muted>
      </p>
      <NetworkForm messages={messages} onAdd={fleet.allow} queryKey={FLEET_KEY} />
      <LoadingOrError there={data} error={error} lines={2}>
        {messages.loading}
      </LoadingOrError>
      {data && data.networks.length > 0 && (
        <List>
          {data.networks.map((network) => (
            <Network key={network.id} network={network} />
          ))}
        </List>
      )}
      {data && <Automatic {...data.automatic} />}
    </Section>
  )
}

function Network({ network: { id, network, label } }: { network: Facts['networks'][number] }) {
  const access = useAccess()
  const queries = useQueryClient()

  async function remove(): Promise<void> {
    await fleet.removeAllowed(id)
    await queries.invalidateQueries({ queryKey: FLEET_KEY })
  }

  return (
    <ListItem
      title={<code>{network}</code>}
      action={
        <ConfirmButton
          {...access}
          label={messages.remove}
          about={network}
          title={messages.removeTitle(network)}
          onConfirm={remove}
        >
          {messages.removeText}
        </ConfirmButton>
      }
    >
      {label}
    </ListItem>
  )
}

function Automatic({ members, servers, service }: Facts['automatic']) {
  const groups = [
    [messages.members, members],
    [messages.servers, servers],
    [messages.service, service],
  ] as const
  return (
    <Disclosure summary={messages.automatic}>
      <List>
        {groups.map(([title, addresses]) => (
          <ListItem key={title} title={title}>
            {addresses.join(', ')}
          </ListItem>
        ))}
      </List>
    </Disclosure>
  )
}
