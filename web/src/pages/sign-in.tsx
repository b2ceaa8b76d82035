import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { inService } from '../base-path.ts'
import { CodeForm } from '../account/sign-in/code-form.tsx'
import { DemoEntry } from '../account/sign-in/demo-entry.tsx'
import { isDemo } from '../frame/demo-banner.tsx'
import { CredentialsForm } from '../account/sign-in/credentials-form.tsx'
import { goToOidc, OtherMethods } from '../account/sign-in/other-methods.tsx'
import { serviceQuery } from '../queries.ts'
import { announceSession } from '../session.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Muted, Stack } from '../ui/layout/page.tsx'
import { signIn as messages } from '../account/messages.ts'

export function Screen() {
  const { next = '/home' } = useSearch({ from: '/open/sign-in' })
  const { data: service } = useQuery(serviceQuery)
  const queries = useQueryClient()
  const router = useRouter()
  const [needsCode, setNeedsCode] = useState(false)

  async function enter(): Promise<void> {
    // Everything cached so far may belong to another account.
    queries.clear()
    announceSession('signed-in')
    router.history.replace(inService(next))
  }

  if (needsCode)
    return (
      <Page title={messages.codeTitle} narrow>
        <Card>
          <CodeForm onDone={enter} onStartAgain={() => setNeedsCode(false)} />
        </Card>
      </Page>
    )
  if (isDemo)
    return (
      <Page title={messages.title} narrow>
        <Card>
          <DemoEntry next={next} />
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
              <CredentialsForm onDone={enter} onCodeNeeded={() => setNeedsCode(true)} />
              <p>
                <Link to="/forgot-password">{messages.forgot}</Link>
              </p>
            </>
          )}
          {service && (
            <OtherMethods service={service} onDone={enter} onOidc={() => goToOidc(next)} />
          )}
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
