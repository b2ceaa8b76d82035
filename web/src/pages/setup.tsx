import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { serviceQuery } from '../queries.ts'
import { Form, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page } from '../ui/layout/page.tsx'

export function Screen() {
  const { data: service } = useQuery(serviceQuery)
  // What stands behind the # never leaves the browser by itself: it reaches no log on the way.
  const [token] = useState(() => window.location.hash.slice(1))
  if (service?.setupNeeded === false) return <AlreadySetUp />
  return (
    <Page
      title="Make the first account"
      narrow
      lead="It becomes the administrator of this Portreeve. Others are added later, by you."
    >
      {token ? <SetupForm token={token} /> : <NoToken />}
    </Page>
  )
}

function SetupForm({ token }: { token: string }) {
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function setUp({ name = '', email = '', password = '' }: Record<string, string>): Promise<void> {
    await api.setUp({ token, email, password, ...(name && { name }) })
    // Whatever was known before is about nobody.
    queries.clear()
    await navigate({ to: '/home', replace: true })
  }

  return (
    <Card>
      <Form onSubmit={setUp} check={missing} submit="Make the account">
        <TextField
          name="name"
          label="Your name"
          hint="As you want to be called; may stay empty."
          autoComplete="name"
          autoFocus
        />
        <TextField name="email" label="E-mail" type="email" autoComplete="username" spellCheck={false} />
        <PasswordField
          name="password"
          label="Password"
          hint="At least ten characters. A few words you can remember are best."
          autoComplete="new-password"
        />
      </Form>
    </Card>
  )
}

function missing({ email = '', password = '' }: Record<string, string>): Record<string, string> {
  return {
    ...(!/^\S+@\S+\.\S+$/.test(email) && { email: 'Type your e-mail address, such as you@example.com.' }),
    ...(password.length < 10 && { password: 'Type at least ten characters.' }),
  }
}

function NoToken() {
  return (
    <Notice tone="warn" title="The link is not complete">
      <p>
        Copy the whole set-up link that the service printed where you started it, from <code>http</code> to its end:
        what stands behind the <code>#</code> proves that this service is yours.
      </p>
    </Notice>
  )
}

function AlreadySetUp() {
  return (
    <Page
      title="This Portreeve is set up"
      narrow
      lead="Its first account exists, so the set-up link has done its work."
    >
      <p>
        <Link to="/sign-in">Sign in</Link>
      </p>
    </Page>
  )
}
