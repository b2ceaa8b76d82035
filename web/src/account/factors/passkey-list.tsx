import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { serviceQuery } from '../../queries.ts'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Form, TextField } from '../../ui/forms/form.tsx'
import { List, ListItem } from '../../ui/lists/list.tsx'
import { DateText } from '../../ui/text/date-text.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Loading } from '../../ui/feedback/loading.tsx'
import { Muted, Stack } from '../../ui/layout/page.tsx'
import { methodsQuery, passkeysQuery, security, type PasskeyEntry } from '../api.ts'
import { passkeys as messages } from '../messages.ts'
import { addPasskey } from '../passkeys.ts'

/** The passkeys of the account, and a form that adds one. */
export function PasskeyList() {
  const { data: service } = useQuery(serviceQuery)
  const { data: entries, error } = useQuery(passkeysQuery)
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!entries || !service) return <Loading lines={2}>{messages.loading}</Loading>
  return (
    <Stack>
      <p>{messages.lead}</p>
      {entries.length > 0 ? (
        <List>
          {entries.map((entry) => (
            <PasskeyItem key={entry.id} {...entry} />
          ))}
        </List>
      ) : (
        <Muted>{messages.empty}</Muted>
      )}
      {service.passkeys ? <NewPasskey /> : <Muted>{messages.unsupported}</Muted>}
    </Stack>
  )
}

function NewPasskey() {
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add({ name = '' }: Record<string, string>): Promise<void> {
    await addPasskey(name.trim())
    setAdded(added + 1)
    await Promise.all([
      queries.invalidateQueries(passkeysQuery),
      queries.invalidateQueries(methodsQuery),
    ])
  }

  return (
    <>
      <Form
        key={added}
        onSubmit={add}
        check={({ name }): Record<string, string> =>
          name?.trim() ? {} : { name: messages.enterName }
        }
        submit={messages.add}
      >
        <TextField
          name="name"
          label={messages.name}
          placeholder={messages.namePlaceholder}
          maxLength={100}
        />
      </Form>
      <div role="status">{added > 0 && <Notice tone="good">{messages.added}</Notice>}</div>
    </>
  )
}

function PasskeyItem({ id, name, isBackedUp, createdAt, lastUsedAt }: PasskeyEntry) {
  const queries = useQueryClient()

  async function remove(): Promise<void> {
    await security.removePasskey(id)
    await Promise.all([
      queries.invalidateQueries(passkeysQuery),
      queries.invalidateQueries(methodsQuery),
    ])
  }

  return (
    <ListItem
      title={name}
      action={
        <ConfirmButton
          label={messages.remove}
          about={name}
          title={messages.removeTitle(name)}
          onConfirm={remove}
        >
          {messages.removeEffect}
        </ConfirmButton>
      }
    >
      {isBackedUp && `${messages.synced} · `}
      {messages.createdLabel} <DateText at={createdAt} /> ·{' '}
      {lastUsedAt ? (
        <>
          {messages.lastUsed} <DateText at={lastUsedAt} />
        </>
      ) : (
        messages.neverUsed
      )}
    </ListItem>
  )
}
