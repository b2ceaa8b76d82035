import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Snippet } from '../../ui/actions/copy.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Form, TextField } from '../../ui/forms/form.tsx'
import { Columns, Muted, Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { Ago } from '../../ui/text/ago.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { fleet, keysQuery, type BouncerKey, type NewBouncerKey } from './api.ts'
import { keys as messages } from './messages.ts'

/** The keys with which servers and firewalls read the list. */
export function BouncerKeys() {
  return (
    <Section title={messages.title}>
      <Columns>
        <NewKey />
        <Keys />
      </Columns>
    </Section>
  )
}

function NewKey() {
  const access = useAccess()
  const queries = useQueryClient()
  const [created, setCreated] = useState<NewBouncerKey | null>(null)

  async function create({ label = '' }: Record<string, string>): Promise<void> {
    setCreated(await fleet.makeKey(label.trim()))
    await queries.invalidateQueries(keysQuery)
  }

  return (
    <div>
      <p>
        <Muted>{messages.text}</Muted>
      </p>
      <Form key={created?.id} {...access} onSubmit={create} submit={messages.submit}>
        <TextField
          name="label"
          label={messages.label}
          placeholder={messages.labelExample}
          maxLength={100}
        />
      </Form>
      <div role="status">
        {created && (
          <Notice tone="good" title={messages.created(created.label)}>
            <Snippet what={messages.what} text={created.key} />
            <p>{messages.createdText}</p>
          </Notice>
        )}
      </div>
    </div>
  )
}

function Keys() {
  const { data, error } = useQuery(keysQuery)
  return (
    <div>
      <LoadingOrError there={data} error={error} lines={2}>
        {messages.loading}
      </LoadingOrError>
      {data?.length === 0 && <Muted>{messages.empty}</Muted>}
      {data && data.length > 0 && (
        <Table quiet caption={messages.title} columns={messages.columns}>
          {data.map((key) => (
            <KeyRow key={key.id} bouncerKey={key} />
          ))}
        </Table>
      )}
    </div>
  )
}

function KeyRow({ bouncerKey }: { bouncerKey: BouncerKey }) {
  const { id, label, lastFour, createdAt, usedAt } = bouncerKey
  const access = useAccess()
  const queries = useQueryClient()
  const name = label || messages.unnamed

  async function revoke(): Promise<void> {
    await fleet.revokeKey(id)
    await queries.invalidateQueries(keysQuery)
  }

  return (
    <tr>
      <td>
        {name} <small>{messages.masked(lastFour)}</small>
      </td>
      <td>
        <Ago at={createdAt} />
      </td>
      <td>{usedAt ? <Ago at={usedAt} /> : messages.never}</td>
      <td>
        <ConfirmButton
          {...access}
          label={messages.revoke}
          about={name}
          title={messages.revokeTitle(name)}
          onConfirm={revoke}
        >
          {messages.revokeText}
        </ConfirmButton>
      </td>
    </tr>
  )
}
