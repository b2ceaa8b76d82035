import { useState } from 'react'
import { inService } from '../../base-path.ts'
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
  onDone,
  onOidc,
}: {
  service: ServiceFacts
  onDone: () => Promise<void>
  /** Opens the page of the provider. */
  onOidc: () => void
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
      {oidc && <Button onClick={onOidc}>{messages.withOidc(oidc.name)}</Button>}
      {passkeys && <Button onClick={() => void usePasskey()}>{messages.withPasskey}</Button>}
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </Stack>
  )
}

const oidcUrl = (returnTo: string) =>
  inService(`${OIDC_START}?returnTo=${encodeURIComponent(returnTo)}`)

/** Leaves the page for the provider, which leads back to that path. */
export function goToOidc(returnTo: string): void {
  location.assign(oidcUrl(returnTo))
}

/** Opens the provider beside the page; its tab ends on a page that says so to this one. */
export function openOidcTab(): void {
  window.open(oidcUrl('/signed-in'), '_blank')
}
