import { useState } from 'react'
import type { ServiceFacts } from '../../api.ts'
import { Button } from '../../ui/actions/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { OIDC_START } from '../api.ts'
import { signIn as messages } from '../messages.ts'
import { signInWithPasskey } from '../passkeys.ts'

/** Sign-in without a password: with a passkey, or at the OpenID provider. */
export function OtherMethods({
  service,
  next,
  onDone,
}: {
  service: ServiceFacts
  next: string
  onDone: () => Promise<void>
}) {
  const [problem, setProblem] = useState('')
  const { oidc, passkeys } = service

  async function usePasskey(): Promise<void> {
    setProblem('')
    try {
      await signInWithPasskey()
      await onDone()
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  return (
    <Stack>
      {oidc && (
        <Button
          onClick={() => location.assign(`${OIDC_START}?returnTo=${encodeURIComponent(next)}`)}
        >
          {messages.withOidc(oidc.name)}
        </Button>
      )}
      {passkeys && <Button onClick={() => void usePasskey()}>{messages.withPasskey}</Button>}
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </Stack>
  )
}
