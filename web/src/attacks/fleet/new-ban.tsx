import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { FieldRow, Form, SelectField, TextField } from '../../ui/forms/form.tsx'
import { Section } from '../../ui/layout/page.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { fleet, FLEET_KEY } from './api.ts'
import { newBan as messages } from './messages.ts'

/** Bans an address on all servers by hand. */
export function NewBan() {
  const access = useAccess()
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function ban({ ip = '', seconds, reason = '' }: Record<string, string>): Promise<void> {
    await fleet.ban({ ip: ip.trim(), seconds: Number(seconds), reason: reason.trim() })
    setAdded(added + 1)
    await queries.invalidateQueries({ queryKey: FLEET_KEY })
  }

  return (
    <Section title={messages.title}>
      <Form {...access} key={added} onSubmit={ban} submit={messages.submit}>
        <FieldRow>
          <TextField name="ip" label={messages.ip} spellCheck={false} />
          <SelectField
            name="seconds"
            label={messages.seconds}
            choices={[...messages.durations]}
            defaultValue="86400"
          />
        </FieldRow>
        <TextField name="reason" label={messages.reason} maxLength={200} />
      </Form>
    </Section>
  )
}
