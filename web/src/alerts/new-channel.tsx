import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Snippet } from '../ui/actions/copy.tsx'
import { Form, SelectField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Stack } from '../ui/layout/page.tsx'
import { alerts, channelsQuery, type CreatedAlertChannel } from './api.ts'

type Type = 'email' | 'webhook'

/** Adds a mail address or a webhook; what a webhook signs with is shown this once. */
export function NewChannel() {
  const queries = useQueryClient()
  const [type, setType] = useState<Type>('email')
  const [made, setMade] = useState<CreatedAlertChannel | null>(null)

  async function add({ address = '', url = '', label = '' }: Record<string, string>): Promise<void> {
    const settings = { label: label.trim() }
    const channel =
      type === 'email' ? { type, address: address.trim(), ...settings } : { type, url: url.trim(), ...settings }
    setMade(await alerts.add(channel))
    await queries.invalidateQueries(channelsQuery)
  }

  return (
    <Stack>
      <Form key={made?.id} onSubmit={add} submit="Add it" check={wrongTarget}>
        <SelectField
          name="type"
          label="Kind"
          defaultValue={type}
          choices={[
            { value: 'email', label: 'A mail address' },
            { value: 'webhook', label: 'A webhook' },
          ]}
          onChoose={(value) => setType(value as Type)}
        />
        {type === 'email' ? (
          <TextField
            key="address"
            name="address"
            label="Mail address"
            hint="An address other than your own gets a code first."
            placeholder="oncall@example.com"
            inputMode="email"
            autoComplete="off"
          />
        ) : (
          <TextField
            key="url"
            name="url"
            label="Address of the webhook"
            hint="Each alert is a POST of its own, signed as Standard Webhooks."
            placeholder="https://chat.example.com/hooks/portreeve"
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
          />
        )}
        <TextField name="label" label="Label" placeholder="on call" maxLength={100} autoComplete="off" />
      </Form>
      <div role="status">{made?.secret && <Secret secret={made.secret} />}</div>
    </Stack>
  )
}

function Secret({ secret }: { secret: string }) {
  return (
    <Notice tone="good" title="The webhook is added">
      <p>Its requests are signed with this secret. Copy it now: it is shown this once.</p>
      <Snippet what="the secret" text={secret} />
    </Notice>
  )
}

function wrongTarget({ address, url }: Record<string, string>): Record<string, string> {
  if (address !== undefined && !address.includes('@')) return { address: 'Type a mail address.' }
  if (url !== undefined && !URL.canParse(url.trim())) return { url: 'Type an address that begins with https://.' }
  return {}
}
