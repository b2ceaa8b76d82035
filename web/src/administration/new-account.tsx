import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { FieldRow, Form, PasswordField, SelectField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Stack } from '../ui/layout/page.tsx'
import { administration } from './api.ts'
import { PLANS, type Plan } from './plans.ts'

/** Makes an account for somebody, who changes the password after the first sign-in. */
export function NewAccount() {
  const queries = useQueryClient()
  const [made, setMade] = useState('')

  async function add({ email = '', name = '', password = '', plan }: Record<string, string>): Promise<void> {
    const person = await administration.add({
      email: email.trim(),
      name: name.trim(),
      password,
      plan: plan as Plan,
    })
    await queries.invalidateQueries({ queryKey: ['people'] })
    setMade(person.email)
  }

  return (
    <Card>
      <Stack>
        <Form key={made} onSubmit={add} check={missing} submit="Make the account">
          <FieldRow>
            <TextField name="email" label="E-mail" type="email" placeholder="bob@example.com" autoComplete="off" />
            <TextField name="name" label="Name" maxLength={200} autoComplete="off" />
          </FieldRow>
          <FieldRow>
            <PasswordField
              name="password"
              label="First password"
              hint="At least 10 characters; to be changed after the first sign-in."
              autoComplete="new-password"
            />
            <SelectField
              name="plan"
              label="Plan"
              hint="Migrations a month."
              choices={PLANS.map(({ value, name }) => ({ value, label: name }))}
            />
          </FieldRow>
        </Form>
        <div role="status">
          {made && <Notice tone="good">{made} can sign in now. Tell them the password in a safe way.</Notice>}
        </div>
      </Stack>
    </Card>
  )
}

function missing({ email = '', password = '' }: Record<string, string>): Record<string, string> {
  return {
    ...(!/^[^\s@]+@[^\s@]+$/.test(email.trim()) && { email: 'Type an e-mail address, such as bob@example.com.' }),
    ...(password.length < 10 && { password: 'Type at least 10 characters.' }),
  }
}
