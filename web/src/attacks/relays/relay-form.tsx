import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { CheckField, Form, TextField } from '../../ui/forms/form.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { relays, RELAYS_KEY, type Relay } from './api.ts'
import { relays as messages } from './messages.ts'

/** The settings of a relay. A known key is kept when the field stays empty. */
export function RelayForm({ relay }: { relay: Relay }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [saved, setSaved] = useState(0)
  const { service, settings, accountLabel, keyLabel, homepage } = relay

  async function save({ account, key, enabled }: Record<string, string>): Promise<void> {
    await relays.change(service, {
      ...(account !== undefined && { account: account.trim() }),
      ...(key && { key: key.trim() }),
      ...(settings && { enabled: enabled === 'on' }),
    })
    setSaved(saved + 1)
    await queries.invalidateQueries({ queryKey: RELAYS_KEY })
  }

  return (
    <Form
      {...access}
      key={saved}
      onSubmit={save}
      submit={settings ? messages.save : messages.start}
    >
      {accountLabel !== null && (
        <TextField
          name="account"
          label={accountLabel}
          defaultValue={settings?.account ?? ''}
          spellCheck={false}
        />
      )}
      <TextField
        name="key"
        label={keyLabel}
        {...(settings && { hint: messages.keepKey })}
        spellCheck={false}
      />
      <a href={homepage}>{messages.where}</a>
      {settings && (
        <CheckField name="enabled" label={messages.enabled} defaultChecked={settings.enabled} />
      )}
    </Form>
  )
}
