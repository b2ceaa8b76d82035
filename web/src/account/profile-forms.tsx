import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Account } from '../api.ts'
import { accountQuery } from '../queries.ts'
import { FieldRow, Form, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { profile, sessionsQuery } from './api.ts'

const MIN_PASSWORD_LENGTH = 10

export function NameForm({ account }: { account: Account }) {
  const queries = useQueryClient()
  const [isSaved, setSaved] = useState(false)

  async function rename({ name = '' }: Record<string, string>): Promise<void> {
    await profile.rename(name.trim())
    await queries.invalidateQueries(accountQuery)
    setSaved(true)
  }

  return (
    <>
      <Form onSubmit={rename} submit="Save the name">
        <TextField name="name" label="Your name" defaultValue={account.name} maxLength={200} autoComplete="name" />
      </Form>
      <div role="status">{isSaved && <Notice tone="good">Your name is saved.</Notice>}</div>
    </>
  )
}

/** Ends all other sessions: who changes a password may fear that somebody knows it. */
export function PasswordForm() {
  const queries = useQueryClient()
  const [changes, setChanges] = useState(0)

  async function change({ current = '', newPassword = '' }: Record<string, string>): Promise<void> {
    await profile.changePassword(current, newPassword)
    await queries.invalidateQueries(sessionsQuery)
    setChanges(changes + 1)
  }

  return (
    <>
      <Form key={changes} onSubmit={change} check={missing} submit="Change the password">
        <FieldRow>
          <PasswordField name="current" label="Password now" autoComplete="current-password" />
          <PasswordField name="newPassword" label="New password" autoComplete="new-password" />
        </FieldRow>
      </Form>
      <div role="status">
        {changes > 0 && <Notice tone="good">Your password is changed. All other sessions were ended.</Notice>}
      </div>
    </>
  )
}

function missing({ current, newPassword = '' }: Record<string, string>): Record<string, string> {
  return {
    ...(!current && { current: 'Type the password you sign in with.' }),
    ...(newPassword.length < MIN_PASSWORD_LENGTH && {
      newPassword: `Type at least ${MIN_PASSWORD_LENGTH} characters.`,
    }),
  }
}
