import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted, Row } from '../ui/layout/page.tsx'
import {
  mailConsentQuery,
  mailCredentials,
  mailProvidersQuery,
  type MailCredential,
  type MailProvider,
} from './credentials.ts'
import { provider as messages } from './messages.ts'

type ProviderSignInProps = {
  /** The user name that was entered so far. */
  user?: () => string
  /** The credential to renew, at its provider. */
  renews?: Pick<MailCredential, 'id' | 'provider' | 'account'>
  /** What the sign-in is for, where it opens no mailbox. */
  purpose?: 'postmaster'
  disabled?: boolean | undefined
  onGranted: (credential: MailCredential, provider: MailProvider) => void
}

/** Buttons that open the sign-in page of a provider, for the providers that are set up. */
export function ProviderSignIn({
  user,
  renews,
  purpose,
  disabled,
  onGranted,
}: ProviderSignInProps) {
  const { data } = useQuery(mailProvidersQuery)
  const [started, setStarted] = useState<{ id: string; provider: MailProvider } | null>(null)
  const [problem, setProblem] = useState('')

  async function start(provider: MailProvider): Promise<void> {
    setProblem('')
    // Opened before the request: a browser blocks windows that open later.
    const page = window.open('', '_blank')
    try {
      const { id, url } = await mailCredentials.start({
        provider: provider.id,
        user: renews?.account ?? user?.() ?? '',
        ...(renews && { credentialId: renews.id }),
        ...(purpose && { purpose }),
      })
      setStarted({ id, provider })
      if (page === null) window.location.assign(url)
      else {
        page.opener = null
        page.location.replace(url)
      }
    } catch (error) {
      page?.close()
      setProblem((error as Error).message)
    }
  }

  const only = purpose === 'postmaster' ? 'google' : renews?.provider
  const shown = (data?.providers ?? []).filter(({ id }) => only === undefined || id === only)
  if (shown.length === 0) return null
  return (
    <>
      <Row>
        {shown.map((provider) => (
          <Button
            key={provider.id}
            size="small"
            disabled={disabled}
            onClick={() => void start(provider)}
          >
            {messages.signIn(provider.name)}
          </Button>
        ))}
      </Row>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      {started && (
        <Progress
          key={started.id}
          id={started.id}
          onGranted={(credential) => {
            setStarted(null)
            onGranted(credential, started.provider)
          }}
        />
      )}
    </>
  )
}

type ProgressProps = { id: string; onGranted: (credential: MailCredential) => void }

/** The state of a sign-in that is completed in another window. */
function Progress({ id, onGranted }: ProgressProps) {
  const { data } = useQuery(mailConsentQuery(id))
  const granted = useEffectEvent(onGranted)
  const credential = data?.credential
  useEffect(() => {
    if (credential) granted(credential)
  }, [credential])
  if (data?.state === 'failed') return <Notice tone="bad">{data.problem}</Notice>
  if (data?.state === 'expired') return <Notice tone="warn">{messages.expired}</Notice>
  return (
    <p role="status">
      <Muted>{messages.waiting}</Muted>
    </p>
  )
}
