import type { ReactNode } from 'react'
import { api } from '../../api.ts'
import { Form, PasswordField, TextField } from '../../ui/forms/form.tsx'
import { fields, signIn as messages } from '../messages.ts'

type CredentialsFormProps = {
  /** Filled in where the account is known. */
  email?: string
  onDone: () => Promise<void>
  /** Called when the account has a second factor. */
  onCodeNeeded: () => void
  /** Further buttons. */
  aside?: ReactNode
}

/** The first step of a sign-in: email address and password. */
export function CredentialsForm({ email = '', onDone, onCodeNeeded, aside }: CredentialsFormProps) {
  async function signIn(values: Record<string, string>): Promise<void> {
    const { email: address = '', password = '' } = values
    if (await api.signIn({ email: address, password })) onCodeNeeded()
    else await onDone()
  }

  return (
    <Form onSubmit={signIn} check={missing} submit={messages.submit} aside={aside}>
      <TextField
        name="email"
        label={fields.email}
        type="email"
        autoComplete="username"
        spellCheck={false}
        defaultValue={email}
        autoFocus={email === ''}
      />
      <PasswordField
        name="password"
        label={fields.password}
        autoComplete="current-password"
        autoFocus={email !== ''}
      />
    </Form>
  )
}

function missing({ email, password }: Record<string, string>): Record<string, string> {
  return {
    ...(!email && { email: fields.enterEmail }),
    ...(!password && { password: fields.enterPassword }),
  }
}
