import { Link, useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { security } from '../account/api.ts'
import { fields, resetPassword as messages } from '../account/messages.ts'
import { Form, PasswordField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Muted, Page } from '../ui/layout/page.tsx'
import { TextWithCode } from '../ui/text/text-with-code.tsx'

const MIN_PASSWORD_LENGTH = 10

/** The target of a link to reset the password. The token is in the fragment, which reaches no log. */
export function Screen() {
  const token = useLocation({ select: ({ hash }) => hash })
  const [isDone, setDone] = useState(false)

  async function reset({ password = '' }: Record<string, string>): Promise<void> {
    await security.resetPassword(token, password)
    setDone(true)
  }

  if (isDone)
    return (
      <Page title={messages.doneTitle} narrow>
        <p role="status">
          <Link to="/sign-in">{messages.signIn}</Link>
        </p>
      </Page>
    )
  return (
    <Page title={messages.title} narrow>
      {token ? (
        <Card>
          <Form onSubmit={reset} check={tooShort} submit={messages.submit}>
            <PasswordField
              name="password"
              label={messages.newPassword}
              hint={fields.passwordHint}
              autoComplete="new-password"
              autoFocus
            />
            <Muted>{messages.effect}</Muted>
          </Form>
        </Card>
      ) : (
        <Notice tone="warn" title={messages.incompleteTitle}>
          <TextWithCode text={messages.incomplete} />
        </Notice>
      )}
    </Page>
  )
}

function tooShort({ password = '' }: Record<string, string>): Record<string, string> {
  return password.length < MIN_PASSWORD_LENGTH
    ? { password: fields.minLength(MIN_PASSWORD_LENGTH) }
    : {}
}
