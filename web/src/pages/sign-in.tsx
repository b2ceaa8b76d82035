import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { CodeForm } from '../account/sign-in/code-form.tsx'
import { OtherMethods } from '../account/sign-in/other-methods.tsx'
import { serviceQuery } from '../queries.ts'
import { Form, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Muted, Stack } from '../ui/layout/page.tsx'
import { fields, signIn as messages } from '../account/messages.ts'

export function Screen() {
  const { next = '/home' } = useSearch({ from: '/open/sign-in' })
  const { data: service } = useQuery(serviceQuery)
  const queries = useQueryClient()
  const router = useRouter()
  const [needsCode, setNeedsCode] = useState(false)

  async function enter(): Promise<void> {
    // Everything cached so far may belong to another account.
    queries.clear()
    router.history.replace(next)
  }

  async function signIn({ email = '', password = '' }: Record<string, string>): Promise<void> {
    if (await api.signIn({ email, password })) setNeedsCode(true)
    else await enter()
  }

  if (needsCode)
    return (
      <Page title={messages.codeTitle} narrow>
        <Card>
          <CodeForm onDone={enter} onStartAgain={() => setNeedsCode(false)} />
        </Card>
      </Page>
    )
  return (
    <Page title={messages.title} narrow>
      <SingleSignOnProblem />
      {service?.setupNeeded && (
        <Notice tone="warn" title={messages.noAccountTitle}>
          <p>{messages.noAccount}</p>
        </Notice>
      )}
      <Card>
        <Stack>
          {service?.passwordSignIn !== false && (
            <>
              <Form onSubmit={signIn} check={missing} submit={messages.submit}>
                <TextField
                  name="email"
                  label={fields.email}
                  type="email"
                  autoComplete="username"
                  spellCheck={false}
                  autoFocus
                />
                <PasswordField
                  name="password"
                  label={fields.password}
                  autoComplete="current-password"
                />
              </Form>
              <p>
                <Link to="/forgot-password">{messages.forgot}</Link>
              </p>
            </>
          )}
          {service && <OtherMethods service={service} next={next} onDone={enter} />}
        </Stack>
      </Card>
      <p>
        <Muted>{messages.public.before}</Muted> <Link to="/address">{messages.public.address}</Link>{' '}
        <Muted>{messages.public.between}</Muted>{' '}
        <Link to="/network">{messages.public.network}</Link>.
      </p>
    </Page>
  )
}

/** Why the sign-in at the OpenID provider failed, in the address of the page. */
function SingleSignOnProblem() {
  const { error, provider } = useSearch({ from: '/open/sign-in' })
  const text = error && (messages.failures[error] ?? messages.failures['provider'])
  if (!text) return null
  return (
    <div role="alert">
      <Notice tone="bad" title={messages.failedTitle}>
        <p>{text}</p>
        {provider && <p>{messages.providerSaid(provider)}</p>}
      </Notice>
    </div>
  )
}

function missing({ email, password }: Record<string, string>): Record<string, string> {
  return {
    ...(!email && { email: fields.enterEmail }),
    ...(!password && { password: fields.enterPassword }),
  }
}
