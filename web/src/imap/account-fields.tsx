import { useState } from 'react'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { CheckField, FieldRow, PasswordField, SelectField, TextField } from '../ui/forms/form.tsx'
import { PORTS, type ImapAccount } from './account.ts'
import { SecretField } from './secret-field.tsx'

type Initial = { initial?: ImapAccount | null }

type AccountFieldsProps = Initial & {
  example?: string
  /** Whether an OAuth access token opens it, too: not what is opened again and again without its owner. */
  takesTokens?: boolean
}

/** Where an IMAP account is, and who it is. */
export function AccountFields({ initial, example = 'alice@example.com', takesTokens = false }: AccountFieldsProps) {
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
        {takesTokens ? (
          <SecretField initial={initial} />
        ) : (
          <PasswordField name="password" label="Password" autoComplete="new-password" />
        )}
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
