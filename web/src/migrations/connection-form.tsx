import { useState } from 'react'
import { Disclosure } from '../ui/disclosure.tsx'
import { CheckField, FieldRow, Form, PasswordField, SelectField, TextField } from '../ui/form.tsx'
import type { Connection } from './api.ts'

type ConnectionFormProps = {
  /** What was typed before, when somebody comes back. */
  initial: Connection | null
  submit: string
  /** Tries it; what it throws is shown as it is. */
  onSubmit: (connection: Connection) => Promise<void>
}

const PORTS = { tls: 993, starttls: 143 }

/** What it takes to sign in to an IMAP account. Passwords stay in this window until the migration is started. */
export function ConnectionForm({ initial, submit, onSubmit }: ConnectionFormProps) {
  const [security, setSecurity] = useState<string>(initial?.secure === false ? 'starttls' : 'tls')
  return (
    <Form onSubmit={(values) => onSubmit(connectionOf(values))} check={missing} submit={submit}>
      <TextField
        name="host"
        label="IMAP server"
        placeholder="imap.example.com"
        defaultValue={initial?.host ?? ''}
        autoComplete="off"
        spellCheck={false}
        inputMode="url"
      />
      <FieldRow>
        <TextField
          name="user"
          label="User"
          placeholder="alice@example.com"
          defaultValue={initial?.user ?? ''}
          autoComplete="off"
          spellCheck={false}
        />
        <PasswordField
          name="password"
          label="Password"
          defaultValue={initial?.password ?? ''}
          autoComplete="new-password"
        />
      </FieldRow>
      <Disclosure summary="Port and security">
        <FieldRow>
          <SelectField
            name="security"
            label="Connection"
            choices={[
              { value: 'tls', label: 'TLS from the first byte' },
              { value: 'starttls', label: 'STARTTLS' },
            ]}
            defaultValue={security}
            onChoose={setSecurity}
          />
          <TextField
            name="port"
            label="Port"
            inputMode="numeric"
            placeholder={String(security === 'tls' ? PORTS.tls : PORTS.starttls)}
            defaultValue={initial ? String(initial.port) : ''}
            autoComplete="off"
          />
        </FieldRow>
        <CheckField
          name="tlsVerify"
          label="The certificate must be right"
          hint="Take this off only for a server of your own, whose certificate you know."
          defaultChecked={initial?.tlsVerify ?? true}
        />
      </Disclosure>
    </Form>
  )
}

function connectionOf(values: Record<string, string>): Connection {
  const secure = values['security'] !== 'starttls'
  return {
    host: (values['host'] ?? '').trim(),
    port: Number(values['port'] || (secure ? PORTS.tls : PORTS.starttls)),
    secure,
    user: (values['user'] ?? '').trim(),
    password: values['password'] ?? '',
    tlsVerify: values['tlsVerify'] === 'on',
  }
}

function missing(values: Record<string, string>): Record<string, string> {
  const { host, user, password, port = '' } = values
  const isPort = port === '' || (/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)
  return {
    ...(!host?.trim() && { host: 'Type the name of the server, such as imap.example.com.' }),
    ...(!user?.trim() && { user: 'Type the name you sign in with.' }),
    ...(!password && { password: 'Type the password.' }),
    ...(!isPort && { port: 'Type a port from 1 to 65535.' }),
  }
}
