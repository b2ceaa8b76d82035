import { useEffect, useId, useRef, useState } from 'react'
import { onConfirmPassword } from '../confirm-password.ts'
import { Button } from '../ui/actions/button.tsx'
import { ConfirmDialog } from '../ui/actions/confirm.tsx'
import { Form, PasswordField } from '../ui/forms/form.tsx'
import { profile } from './api.ts'
import { fields, passwordPrompt as messages } from './messages.ts'

/**
 * Asks for the password in a dialog when a request needs a recent sign-in. The screen below keeps
 * its input.
 */
export function PasswordPrompt() {
  const dialog = useRef<HTMLDialogElement>(null)
  const answer = useRef<(isConfirmed: boolean) => void>(null)
  const heading = useId()
  // A new form each time, so that neither the password nor an earlier error remains.
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
    <ConfirmDialog
      ref={dialog}
      heading={heading}
      title={messages.title}
      onClose={() => answer.current?.(false)}
    >
      <p>{messages.explanation}</p>
      {times > 0 && (
        <Form
          key={times}
          onSubmit={confirm}
          check={missing}
          submit={messages.continue}
          aside={<Button onClick={() => dialog.current?.close()}>{messages.cancel}</Button>}
        >
          <PasswordField
            name="password"
            label={fields.password}
            autoComplete="current-password"
            autoFocus
          />
        </Form>
      )}
    </ConfirmDialog>
  )
}

function missing({ password }: Record<string, string>): Record<string, string> {
  return password ? {} : { password: messages.missing }
}
