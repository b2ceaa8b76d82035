import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { currentPath } from '../base-path.ts'
import { serviceQuery } from '../queries.ts'
import { Button } from '../ui/actions/button.tsx'
import { Form, PasswordField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Stack } from '../ui/layout/page.tsx'
import { methodsQuery, profile } from './api.ts'
import { fields, passwordPrompt as messages } from './messages.ts'
import { signInWithPasskey } from './passkeys.ts'
import { goToOidc } from './sign-in/other-methods.tsx'

type ProofsProps = { onConfirmed: () => void; onCancel: () => void }

/** The password, a passkey or the provider, by what the account has. */
export function PasswordProofs({ onConfirmed, onCancel }: ProofsProps) {
  const { data: methods } = useQuery(methodsQuery)
  const { data: service } = useQuery(serviceQuery)
  const [problem, setProblem] = useState('')

  async function confirm({ password = '' }: Record<string, string>): Promise<void> {
    await profile.reauthenticate({ password })
    onConfirmed()
  }

  async function usePasskey(): Promise<void> {
    setProblem('')
    try {
      await signInWithPasskey()
      onConfirmed()
    } catch (error) {
      setProblem((error as Error).message)
    }
  }

  return (
    <Stack>
      {methods?.password !== false && (
        <Form
          onSubmit={confirm}
          check={missing}
          submit={messages.continue}
          aside={<Button onClick={onCancel}>{messages.cancel}</Button>}
        >
          <PasswordField
            name="password"
            label={fields.password}
            autoComplete="current-password"
            autoFocus
          />
        </Form>
      )}
      {Boolean(methods?.passkeys) && (
        <Button onClick={() => void usePasskey()}>{messages.usePasskey}</Button>
      )}
      {methods?.password === false && methods.oidc && service?.oidc && (
        <Button onClick={signInAgain}>{messages.useOidc(service.oidc.name)}</Button>
      )}
      {methods?.password === false && <Button onClick={onCancel}>{messages.cancel}</Button>}
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </Stack>
  )
}

/** The provider asks for nothing if its session is alive. */
function signInAgain(): void {
  goToOidc(currentPath() + location.search)
}

function missing({ password }: Record<string, string>): Record<string, string> {
  return password ? {} : { password: messages.missing }
}
