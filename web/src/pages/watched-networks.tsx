import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { AttackViews } from '../attacks/attack-views.tsx'
import {
  networks,
  watchedQuery,
  WATCHED_KEY,
  type WatchedNetwork,
} from '../attacks/networks/api.ts'
import { networks as messages } from '../attacks/networks/messages.ts'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { FieldRow, Form, TextField } from '../ui/forms/form.tsx'
import { Page, Row, Section } from '../ui/layout/page.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const { data, error } = useQuery(watchedQuery)
  return (
    <Page title={messages.title} lead={messages.lead}>
      <AttackViews />
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data?.length === 0 && (
        <Empty icon="shield" title={messages.empty}>
          <p>{messages.emptyText}</p>
        </Empty>
      )}
      {data && data.length > 0 && (
        <List>
          {data.map((network) => (
            <Network key={network.id} network={network} />
          ))}
        </List>
      )}
      {data && (
        <Section title={messages.add}>
          <NewNetwork />
        </Section>
      )}
    </Page>
  )
}

function Network({
  network: { id, network, label, open, checkedAt },
}: {
  network: WatchedNetwork
}) {
  const access = useAccess()
  const queries = useQueryClient()

  async function remove(): Promise<void> {
    await networks.remove(id)
    await queries.invalidateQueries({ queryKey: WATCHED_KEY })
  }

  return (
    <ListItem
      title={
        <Link to="/attacks/networks/$id" params={{ id }}>
          {network}
        </Link>
      }
      action={
        <Row>
          {checkedAt === null ? (
            <Status tone="info">{messages.checking}</Status>
          ) : (
            <Status tone={open === 0 ? 'good' : 'bad'}>{messages.status(open)}</Status>
          )}
          <ConfirmButton
            {...access}
            label={messages.remove}
            about={network}
            title={messages.removeTitle(network)}
            onConfirm={remove}
          >
            {messages.removeText}
          </ConfirmButton>
        </Row>
      }
    >
      {label}
      {checkedAt && (
        <>
          {label && ' · '}
          {messages.checked} <Ago at={checkedAt} />
        </>
      )}
    </ListItem>
  )
}

function NewNetwork() {
  const access = useAccess()
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add({ cidr = '', label = '' }: Record<string, string>): Promise<void> {
    await networks.watch({ cidr: cidr.trim(), label: label.trim() })
    setAdded(added + 1)
    await queries.invalidateQueries({ queryKey: WATCHED_KEY })
  }

  return (
    <Form {...access} key={added} onSubmit={add} submit={messages.submit}>
      <FieldRow>
        <TextField
          name="cidr"
          label={messages.cidr}
          placeholder="192.0.2.0/24"
          spellCheck={false}
          autoComplete="off"
        />
        <TextField name="label" label={messages.label} maxLength={200} autoComplete="off" />
      </FieldRow>
    </Form>
  )
}
