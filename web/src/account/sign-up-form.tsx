import { useState } from 'react'
import { api } from '../api.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { Form, PasswordField, TextField } from '../ui/forms/form.tsx'
import { fields, signUpForm as messages } from './messages.ts'

const MIN_PASSWORD_LENGTH = 10

/** Creates an account, which the link in an email confirms. */
export function SignUpForm() {
  const [sentTo, setSentTo] = useState('')

  async function signUp({ name = '', email = '', password = '' }: Record<string, string>) {
    await api.signUp({ name: name.trim(), email: email.trim(), password })
    setSentTo(email.trim())
  }

  if (sentTo)
    return (
      <div role="status">
        <Notice tone="good">{messages.sent(sentTo)}</Notice>
      </div>
    )
  return (
    <Form onSubmit={signUp} check={missing} submit={messages.submit} kind="plain">
      <TextField name="name" label={messages.name} autoComplete="name" maxLength={200} />
      <TextField
        name="email"
        label={fields.email}
        type="email"
        autoComplete="username"
        spellCheck={false}
      />
      <PasswordField
        name="password"
        label={fields.password}
        hint={fields.passwordHint}
        autoComplete="new-password"
      />
    </Form>
  )
}

function missing({ email = '', password = '' }: Record<string, string>): Record<string, string> {
  return {
    ...(!/^[^\s@]+@[^\s@]+$/.test(email.trim()) && { email: fields.enterEmail }),
    ...(password.length < MIN_PASSWORD_LENGTH && {
      password: fields.minLength(MIN_PASSWORD_LENGTH),
    }),
  }
}
