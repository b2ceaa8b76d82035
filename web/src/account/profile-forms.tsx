import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Account } from '../api.ts'
import { accountQuery } from '../queries.ts'
import { FieldRow, Form, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { profile, sessionsQuery } from './api.ts'
import { fields, profile as messages } from './messages.ts'

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
      <Form onSubmit={rename} submit={messages.saveName}>
        <TextField
          name="name"
          label={messages.name}
          defaultValue={account.name}
          maxLength={200}
          autoComplete="name"
        />
      </Form>
      <div role="status">{isSaved && <Notice tone="good">{messages.nameSaved}</Notice>}</div>
    </>
  )
}

/** Changing the password ends all other sessions: the old password may have leaked. */
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
      <Form key={changes} onSubmit={change} check={missing} submit={messages.changePassword}>
        <FieldRow>
          <PasswordField
            name="current"
            label={messages.currentPassword}
            autoComplete="current-password"
          />
          <PasswordField
            name="newPassword"
            label={messages.newPassword}
            autoComplete="new-password"
          />
        </FieldRow>
      </Form>
      <div role="status">
        {changes > 0 && <Notice tone="good">{messages.passwordChanged}</Notice>}
      </div>
    </>
  )
}

function missing({ current, newPassword = '' }: Record<string, string>): Record<string, string> {
  return {
    ...(!current && { current: messages.enterCurrentPassword }),
    ...(newPassword.length < MIN_PASSWORD_LENGTH && {
      newPassword: fields.minLength(MIN_PASSWORD_LENGTH),
    }),
  }
}
