import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery, serviceQuery } from '../../queries.ts'
import { Button } from '../../ui/actions/button.tsx'
import { Loading } from '../../ui/feedback/loading.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { signInPrompt as messages } from '../messages.ts'
import { CodeForm } from './code-form.tsx'
import { CredentialsForm } from './credentials-form.tsx'
import { OtherMethods, openOidcTab } from './other-methods.tsx'

type MethodsProps = { onDone: () => Promise<void>; onCancel: () => void }

/** The ways for the account on the screen to sign in again. */
export function SignInAgain({ onDone, onCancel }: MethodsProps) {
  const { data: account } = useQuery(accountQuery)
  const { data: service, isPending } = useQuery(serviceQuery)
  const [needsCode, setNeedsCode] = useState(false)
  const cancel = <Button onClick={onCancel}>{messages.cancel}</Button>
  if (needsCode) return <CodeForm onDone={onDone} onStartAgain={() => setNeedsCode(false)} />
  // Unless it is known that the service takes passwords, no field for one is shown.
  if (isPending)
    return (
      <Loading lines={2} shape="form">
        {messages.loading}
      </Loading>
    )
  return (
    <Stack>
      {service?.passwordSignIn !== false && (
        <CredentialsForm
          email={account?.email ?? ''}
          onDone={onDone}
          onCodeNeeded={() => setNeedsCode(true)}
          aside={cancel}
        />
      )}
      {service && <OtherMethods service={service} onDone={onDone} onOidc={openOidcTab} />}
      {service?.passwordSignIn === false && cancel}
    </Stack>
  )
}
