import { useState } from 'react'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { CheckField, FieldRow, PasswordField, SelectField, TextField } from '../ui/forms/form.tsx'
import { account, connection, secret } from './messages.ts'
import { PORTS, type ImapAccount } from './account.ts'
import { SecretField } from './secret-field.tsx'

type Initial = { initial?: ImapAccount | null }

type AccountFieldsProps = Initial & {
  example?: string
  /** Also accepts an OAuth access token, which expires: only for work that ends soon. */
  takesTokens?: boolean
  /** Also accepts a sign-in at the provider, for work that goes on. */
  takesSignIns?: boolean
}

/** The server and user of an IMAP account. */
export function AccountFields({
  initial,
  example = account.userExample,
  takesTokens = false,
  takesSignIns = false,
}: AccountFieldsProps) {
  const [typed, setTyped] = useState({ host: initial?.host ?? '', user: initial?.user ?? '' })
  // A sign-in at a provider fills in both fields, which are then created again.
  const [filled, setFilled] = useState(typed)
  return (
    <>
      <TextField
        key={`host ${filled.host}`}
        name="host"
        label={account.host}
        placeholder={account.hostExample}
        defaultValue={filled.host}
        onType={(host) => setTyped({ ...typed, host })}
        spellCheck={false}
        inputMode="url"
      />
      <FieldRow>
        <TextField
          key={`user ${filled.user}`}
          name="user"
          label={account.user}
          placeholder={example}
          defaultValue={filled.user}
          onType={(user) => setTyped({ ...typed, user })}
          spellCheck={false}
        />
        {takesTokens || takesSignIns ? (
          <SecretField
            initial={initial}
            offersOwner={takesTokens}
            takesTokens={takesTokens}
            user={() => typed.user}
            onGranted={({ account: user }, { hosts }) => {
              const host = hosts.includes(typed.host) ? typed.host : (hosts[0] ?? '')
              setTyped({ host, user: typed.user || user })
              setFilled({ host, user: typed.user || user })
            }}
          />
        ) : (
          <PasswordField name="password" label={secret.password} autoComplete="new-password" />
        )}
      </FieldRow>
    </>
  )
}

/** Settings whose defaults are right for most servers. An empty port is the default one. */
export function ConnectionFields({ initial }: Initial) {
  const [security, setSecurity] = useState<string>(initial?.secure === false ? 'starttls' : 'tls')
  return (
    <Disclosure summary={connection.advanced}>
      <FieldRow>
        <SelectField
          name="security"
          label={connection.security}
          choices={[
            { value: 'tls', label: connection.tls },
            { value: 'starttls', label: connection.starttls },
          ]}
          defaultValue={security}
          onChoose={setSecurity}
        />
        <TextField
          name="port"
          label={connection.port}
          inputMode="numeric"
          placeholder={String(security === 'tls' ? PORTS.tls : PORTS.starttls)}
          defaultValue={initial ? String(initial.port) : ''}
        />
      </FieldRow>
      <CheckField
        name="tlsVerify"
        label={connection.verify}
        hint={connection.verifyHint}
        defaultChecked={initial?.tlsVerify ?? true}
      />
    </Disclosure>
  )
}
