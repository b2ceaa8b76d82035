import { useLocation, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { Form } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page } from '../ui/layout/page.tsx'

/** Where the link of a sign-up mail leads. A press is needed: mail scanners open links, too. */
export function Screen() {
  const token = useLocation({ select: ({ hash }) => hash })
  const [email, setEmail] = useState('')
  if (email) {
    return (
      <Page title="Your account is ready" narrow>
        <p>
          <Link to="/sign-in">Sign in</Link> as {email} with the password you chose.
        </p>
      </Page>
    )
  }
  return (
    <Page title="Confirm your account" narrow>
      {token ? (
        <Card>
          <Form onSubmit={async () => setEmail((await api.confirmSignUp(token)).email)} submit="Create my account">
            <p>This confirms that the address is yours and creates your account.</p>
          </Form>
        </Card>
      ) : (
        <Notice tone="warn" title="This link is incomplete">
          <p>Copy the whole link from the mail, from “http” to its end.</p>
        </Notice>
      )}
    </Page>
  )
}
