import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  CheckField,
  FieldRow,
  Form,
  PasswordField,
  SelectField,
  TextField,
} from '../../ui/forms/form.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { canaries } from './api.ts'
import { canary as messages } from './messages.ts'

const HOURS = [3, 4, 6, 8, 12, 24] as const
const PORTS = { tls: 465, starttls: 587 }

/** Creates a canary, after a sign-in at its server. */
export function NewCanaryForm({ domain }: { domain: string }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function create(values: Record<string, string>): Promise<void> {
    const secure = values['security'] === 'tls'
    await canaries.create({
      sender: (values['sender'] ?? '').trim(),
      host: (values['host'] ?? '').trim(),
      port: Number(values['port'] || (secure ? PORTS.tls : PORTS.starttls)),
      secure,
      tlsVerify: values['tlsVerify'] === 'on',
      user: (values['user'] ?? '').trim(),
      password: values['password'] ?? '',
      everyHours: HOURS.find((hours) => String(hours) === values['everyHours']) ?? 6,
    })
    await queries.invalidateQueries({ queryKey: ['canaries'] })
    setAdded(added + 1)
  }

  return (
    <Form key={added} {...access} submit={messages.create} check={findMistakes} onSubmit={create}>
      <FieldRow>
        <TextField
          name="sender"
          label={messages.sender}
          placeholder={messages.senderExample(domain)}
          autoComplete="off"
          inputMode="email"
        />
        <TextField
          name="host"
          label={messages.host}
          placeholder={messages.hostExample}
          autoComplete="off"
          inputMode="url"
        />
      </FieldRow>
      <FieldRow>
        <TextField name="user" label={messages.user} autoComplete="off" />
        <PasswordField name="password" label={messages.password} autoComplete="new-password" />
      </FieldRow>
      <FieldRow>
        <SelectField
          name="security"
          label={messages.security}
          choices={[
            { value: 'starttls', label: messages.starttls },
            { value: 'tls', label: messages.tls },
          ]}
          defaultValue="starttls"
        />
        <TextField name="port" label={messages.port} inputMode="numeric" autoComplete="off" />
        <SelectField
          name="everyHours"
          label={messages.every}
          choices={HOURS.map((hours) => ({ value: String(hours), label: messages.hours(hours) }))}
          defaultValue="6"
        />
      </FieldRow>
      <CheckField name="tlsVerify" label={messages.verify} defaultChecked />
    </Form>
  )
}

function findMistakes(values: Record<string, string>): Record<string, string> {
  const missing = (['sender', 'host', 'user'] as const).filter((name) => !values[name]?.trim())
  const { port = '' } = values
  const isPort = port === '' || (/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)
  return {
    ...Object.fromEntries(missing.map((name) => [name, messages.missing[name]])),
    ...(!values['password'] && { password: messages.missingPassword }),
    ...(!isPort && { port: messages.wrongPort }),
  }
}
