import { useBlocker } from '@tanstack/react-router'
import { useEffect, useId, useRef } from 'react'
import { Button } from '../actions/button.tsx'
import dialogClasses from '../actions/confirm.module.css'
import { messages } from '../messages.ts'

type LeaveGuardProps = {
  /** @param to the path of the next screen; empty for a reload */
  isNeeded: (to: string) => boolean
}

/** Asks before something half typed is lost: on the way to another screen, and before a reload. */
export function LeaveGuard({ isNeeded }: LeaveGuardProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname && isNeeded(next.pathname),
    enableBeforeUnload: () => isNeeded(''),
    withResolver: true,
  })
  useEffect(() => {
    if (status === 'blocked') dialog.current?.showModal()
    else dialog.current?.close()
  }, [status])
  return (
    <dialog
      ref={dialog}
      className={dialogClasses.dialog}
      aria-labelledby={heading}
      onCancel={() => reset?.()}
    >
      <h2 id={heading}>{messages.leave.title}</h2>
      <p>{messages.leave.text}</p>
      <div className={dialogClasses.choices}>
        <Button onClick={() => reset?.()}>{messages.leave.stay}</Button>
        <Button kind="danger" onClick={() => proceed?.()}>
          {messages.leave.leave}
        </Button>
      </div>
    </dialog>
  )
}
