import { useEffect, useId, useRef, useState } from 'react'
import { onConfirmPassword } from '../confirm-password.ts'
import { Button } from '../ui/actions/button.tsx'
import { ConfirmDialog } from '../ui/actions/confirm.tsx'
import { Form, PasswordField } from '../ui/forms/form.tsx'
import { profile } from './api.ts'

/** Asks for the password over whatever is on the screen, when an act needs a recent sign-in. What is typed there stays. */
export function PasswordPrompt() {
  const dialog = useRef<HTMLDialogElement>(null)
  const answer = useRef<(isConfirmed: boolean) => void>(null)
  const heading = useId()
  // Each time a new form: a password is not kept, nor is what was said of the last one.
  const [times, setTimes] = useState(0)

  useEffect(
    () =>
      onConfirmPassword(() => {
        setTimes((before) => before + 1)
        dialog.current?.showModal()
        return new Promise((resolve) => (answer.current = resolve))
      }),
    [],
  )

  async function confirm({ password = '' }: Record<string, string>): Promise<void> {
    await profile.reauthenticate(password)
    answer.current?.(true)
    dialog.current?.close()
  }

  return (
    <ConfirmDialog ref={dialog} heading={heading} title="Confirm your password" onClose={() => answer.current?.(false)}>
      <p>You signed in a while ago. Enter your password to continue.</p>
      {times > 0 && (
        <Form
          key={times}
          onSubmit={confirm}
          check={missing}
          submit="Continue"
          aside={<Button onClick={() => dialog.current?.close()}>Cancel</Button>}
        >
          <PasswordField name="password" label="Password" autoComplete="current-password" autoFocus />
        </Form>
      )}
    </ConfirmDialog>
  )
}

function missing({ password }: Record<string, string>): Record<string, string> {
  return password ? {} : { password: 'Enter the password you sign in with.' }
}
