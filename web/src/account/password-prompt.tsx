import { useEffect, useId, useRef, useState } from 'react'
import { passwordPrompt } from '../prompt.ts'
import { loadLater } from '../frame/load-later.tsx'
import { ConfirmDialog } from '../ui/actions/confirm.tsx'
import { passwordPrompt as messages } from './messages.ts'

const Proofs = loadLater(
  'the password prompt',
  async () => (await import('./password-proofs.tsx')).PasswordProofs,
)

/**
 * Asks in a dialog for the password or a passkey when a request needs a recent sign-in. The screen
 * below keeps its input.
 */
export function PasswordPrompt() {
  const dialog = useRef<HTMLDialogElement>(null)
  const answer = useRef<(isConfirmed: boolean) => void>(null)
  const heading = useId()
  // A new form each time, so that neither the password nor an earlier error remains.
  const [times, setTimes] = useState(0)

  useEffect(
    () =>
      passwordPrompt.onAsk(() => {
        setTimes((before) => before + 1)
        dialog.current?.showModal()
        return new Promise((resolve) => (answer.current = resolve))
      }),
    [],
  )

  function confirmed(): void {
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
        <Proofs key={times} onConfirmed={confirmed} onCancel={() => dialog.current?.close()} />
      )}
    </ConfirmDialog>
  )
}
