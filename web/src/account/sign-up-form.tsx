import { useState } from 'react'
import { api } from '../api.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { Form } from '../ui/forms/form.tsx'
import { signUpForm as messages } from './messages.ts'
import { checkNewAccount, NewAccountFields } from './new-account-fields.tsx'

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
    <Form onSubmit={signUp} check={checkNewAccount} submit={messages.submit} kind="plain">
      <NewAccountFields name={{ label: messages.name }} />
    </Form>
  )
}
