import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Snippet } from '../ui/actions/copy.tsx'
import { Form, SelectField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Stack } from '../ui/layout/page.tsx'
import { alerts, channelsQuery, type CreatedAlertChannel } from './api.ts'
import { create as messages } from './messages.ts'
import { useAccess } from '../workspaces/roles.ts'

type Type = 'email' | 'webhook'

/** Adds an email address or a webhook; a webhook’s secret is shown only here. */
export function NewChannelForm() {
  const access = useAccess()
  const queries = useQueryClient()
  const [type, setType] = useState<Type>('email')
  const [created, setCreated] = useState<CreatedAlertChannel | null>(null)

  async function add({
    address = '',
    url = '',
    label = '',
  }: Record<string, string>): Promise<void> {
    const settings = { label: label.trim() }
    const channel =
      type === 'email'
        ? { type, address: address.trim(), ...settings }
        : { type, url: url.trim(), ...settings }
    setCreated(await alerts.add(channel))
    await queries.invalidateQueries(channelsQuery)
  }

  return (
    <Stack>
      <Form
        key={created?.id}
        {...access}
        onSubmit={add}
        submit={messages.submit}
        check={wrongTarget}
      >
        <SelectField
          name="type"
          label={messages.type}
          defaultValue={type}
          choices={[
            { value: 'email', label: messages.types.email },
            { value: 'webhook', label: messages.types.webhook },
          ]}
          onChoose={(value) => setType(value as Type)}
        />
        {type === 'email' ? (
          <TextField
            key="address"
            name="address"
            label={messages.address}
            hint={messages.addressHint}
            placeholder="oncall@example.com"
            inputMode="email"
            autoComplete="off"
          />
        ) : (
          <TextField
            key="url"
            name="url"
            label={messages.url}
            hint={messages.urlHint}
            placeholder="https://chat.example.com/hooks/portreeve"
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
          />
        )}
        <TextField
          name="label"
          label={messages.label}
          placeholder={messages.labelExample}
          maxLength={100}
          autoComplete="off"
        />
      </Form>
      <div role="status">{created?.secret && <Secret secret={created.secret} />}</div>
    </Stack>
  )
}

function Secret({ secret }: { secret: string }) {
  return (
    <Notice tone="good" title={messages.added}>
      <p>{messages.secret}</p>
      <Snippet what={messages.secretName} text={secret} />
    </Notice>
  )
}

function wrongTarget({ address, url }: Record<string, string>): Record<string, string> {
  if (address !== undefined && !address.includes('@')) return { address: messages.enterAddress }
  if (url !== undefined && !URL.canParse(url.trim())) return { url: messages.enterUrl }
  return {}
}
