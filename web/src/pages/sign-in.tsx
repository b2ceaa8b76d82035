import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter, useSearch } from '@tanstack/react-router'
import { api } from '../api.ts'
import { serviceQuery } from '../queries.ts'
import { Form, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Muted } from '../ui/layout/page.tsx'
import { fields, signIn as messages } from '../account/messages.ts'

export function Screen() {
  const { next = '/home' } = useSearch({ from: '/open/sign-in' })
  const { data: service } = useQuery(serviceQuery)
  const queries = useQueryClient()
  const router = useRouter()

  async function signIn({ email = '', password = '' }: Record<string, string>): Promise<void> {
    await api.signIn({ email, password })
    // Everything cached so far may belong to another account.
    queries.clear()
    router.history.replace(next)
  }

  return (
    <Page title={messages.title} narrow>
      {service?.setupNeeded && (
        <Notice tone="warn" title={messages.noAccountTitle}>
          <p>{messages.noAccount}</p>
        </Notice>
      )}
      <Card>
        <Form onSubmit={signIn} check={missing} submit={messages.submit}>
          <TextField
            name="email"
            label={fields.email}
            type="email"
            autoComplete="username"
            spellCheck={false}
            autoFocus
          />
          <PasswordField name="password" label={fields.password} autoComplete="current-password" />
        </Form>
      </Card>
      <p>
        <Muted>{messages.public.before}</Muted> <Link to="/address">{messages.public.address}</Link>{' '}
        <Muted>{messages.public.between}</Muted>{' '}
        <Link to="/network">{messages.public.network}</Link>.
      </p>
    </Page>
  )
}

function missing({ email, password }: Record<string, string>): Record<string, string> {
  return {
    ...(!email && { email: fields.enterEmail }),
    ...(!password && { password: fields.enterPassword }),
  }
}
