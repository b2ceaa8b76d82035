import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { FieldRow, Form, PasswordField, SelectField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Stack } from '../ui/layout/page.tsx'
import { administration } from './api.ts'
import { PLANS, type Plan } from './plans.ts'
import { newAccount as messages } from './messages.ts'

const MIN_PASSWORD_LENGTH = 10

/**
 * The form that creates an account for another user, who changes the password after the first
 * sign-in.
 */
export function NewAccountForm() {
  const queries = useQueryClient()
  const [created, setCreated] = useState('')

  async function add({
    email = '',
    name = '',
    password = '',
    plan,
  }: Record<string, string>): Promise<void> {
    const person = await administration.add({
      email: email.trim(),
      name: name.trim(),
      password,
      plan: plan as Plan,
    })
    await queries.invalidateQueries({ queryKey: ['people'] })
    setCreated(person.email)
  }

  return (
    <Card>
      <Stack>
        <Form key={created} onSubmit={add} check={missing} submit={messages.submit}>
          <FieldRow>
            <TextField
              name="email"
              label={messages.email}
              type="email"
              placeholder={messages.emailExample}
            />
            <TextField name="name" label={messages.name} maxLength={200} />
          </FieldRow>
          <FieldRow>
            <PasswordField
              name="password"
              label={messages.password}
              hint={messages.passwordHint}
              autoComplete="new-password"
            />
            <SelectField
              name="plan"
              label={messages.plan}
              hint={messages.planHint}
              choices={PLANS.map(({ value, name }) => ({ value, label: name }))}
            />
          </FieldRow>
        </Form>
        <div role="status">
          {created && <Notice tone="good">{messages.created(created)}</Notice>}
        </div>
      </Stack>
    </Card>
  )
}

function missing({ email = '', password = '' }: Record<string, string>): Record<string, string> {
  return {
    ...(!/^[^\s@]+@[^\s@]+$/.test(email.trim()) && { email: messages.enterEmail }),
    ...(password.length < MIN_PASSWORD_LENGTH && {
      password: messages.minLength(MIN_PASSWORD_LENGTH),
    }),
  }
}
