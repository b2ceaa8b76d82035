import { useState } from 'react'
import { Disclosure } from '../ui/disclosure.tsx'
import { CheckField, FieldRow, PasswordField, SelectField, TextField } from '../ui/form.tsx'
import { PORTS, type ImapAccount } from './account.ts'

type Initial = { initial?: ImapAccount | null }

/** Where an IMAP account is, and who it is. */
export function AccountFields({ initial, example = 'alice@example.com' }: Initial & { example?: string }) {
  return (
    <>
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
          placeholder={example}
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
    </>
  )
}

/** What is right as it stands for most servers; an empty port is the usual one. */
export function ConnectionFields({ initial }: Initial) {
  const [security, setSecurity] = useState<string>(initial?.secure === false ? 'starttls' : 'tls')
  return (
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
  )
}
