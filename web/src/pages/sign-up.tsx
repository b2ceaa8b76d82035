import { useLocation, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { Form } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { signUp as messages } from '../account/messages.ts'

/**
 * The target of the link in a sign-up email. A click is needed, because mail scanners open links
 * too.
 */
export function Screen() {
  const token = useLocation({ select: ({ hash }) => hash })
  const [email, setEmail] = useState('')
  if (email) {
    return (
      <Page title={messages.readyTitle} narrow>
        <p>
          <Link to="/sign-in">{messages.signIn}</Link> {messages.readyRest(email)}
        </p>
      </Page>
    )
  }
  return (
    <Page title={messages.confirmTitle} narrow>
      {token ? (
        <Card>
          <Form
            onSubmit={async () => setEmail((await api.confirmSignUp(token)).email)}
            submit={messages.submit}
          >
            <p>{messages.explanation}</p>
          </Form>
        </Card>
      ) : (
        <Notice tone="warn" title={messages.incompleteTitle}>
          <p>{messages.incomplete}</p>
        </Notice>
      )}
    </Page>
  )
}
