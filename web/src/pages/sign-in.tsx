import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter, useSearch } from '@tanstack/react-router'
import { api } from '../api.ts'
import { serviceQuery } from '../queries.ts'
import { Form, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Muted } from '../ui/layout/page.tsx'

export function Screen() {
  const { next = '/home' } = useSearch({ from: '/open/sign-in' })
  const { data: service } = useQuery(serviceQuery)
  const queries = useQueryClient()
  const router = useRouter()

  async function signIn({ email = '', password = '' }: Record<string, string>): Promise<void> {
    await api.signIn({ email, password })
    // Whatever was known before is about somebody else, or nobody.
    queries.clear()
    router.history.replace(next)
  }

  return (
    <Page title="Sign in" narrow>
      {service?.setupNeeded && (
        <Notice tone="warn" title="No account exists yet">
          <p>Open the set-up link that the service printed where you started it.</p>
        </Notice>
      )}
      <Card>
        <Form onSubmit={signIn} check={missing} submit="Sign in">
          <TextField name="email" label="E-mail" type="email" autoComplete="username" spellCheck={false} autoFocus />
          <PasswordField name="password" label="Password" autoComplete="current-password" />
        </Form>
      </Card>
      <p>
        <Muted>Without an account you may ask</Muted> <Link to="/address">whether an address was reported</Link>{' '}
        <Muted>for attacks, and see</Muted> <Link to="/network">the network in numbers</Link>.
      </p>
    </Page>
  )
}

function missing({ email, password }: Record<string, string>): Record<string, string> {
  return {
    ...(!email && { email: 'Type your e-mail address.' }),
    ...(!password && { password: 'Type your password.' }),
  }
}
