import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { closeToast, useToasts, type Toast } from '../../toasts.ts'
import { Button } from '../actions/button.tsx'
import { Icon } from '../brand/icons.tsx'
import classes from './toast-list.module.css'
import { messages } from '../messages.ts'

/** The toasts, oldest first. They wait while the pointer or the focus is on one of them. */
export function ToastList() {
  const toasts = useToasts()
  // Held until a toast comes or goes: what is removed sends neither “leave” nor “blur”.
  const [heldCount, setHeldCount] = useState(0)
  const hold = () => setHeldCount(toasts.length)
  const release = () => setHeldCount(0)
  return (
    <div
      className={classes.list}
      role="status"
      onPointerMove={hold}
      onPointerLeave={release}
      onFocus={hold}
      onBlur={release}
    >
      {toasts.map((toast) => (
        <ToastItem key={toast.key} toast={toast} isHeld={toasts.length === heldCount} />
      ))}
    </div>
  )
}

function ToastItem({ toast, isHeld }: { toast: Toast; isHeld: boolean }) {
  const { key, text, isProblem = false, action, lastsMs } = toast
  useCountdown(toast, isHeld)
  return (
    <div className={classes.toast} data-problem={isProblem}>
      {isProblem && <Icon name="bad" />}
      <span className={classes.text}>{text}</span>
      {action ? (
        <Button size="small" onClick={action.run}>
          {action.label}
        </Button>
      ) : (
        <Button size="small" kind="quiet" onClick={() => closeToast(key)}>
          {messages.toast.close}
        </Button>
      )}
      {lastsMs !== undefined && (
        <span
          className={classes.time}
          data-held={isHeld}
          style={{ animationDuration: `${lastsMs}ms` }}
        />
      )}
    </div>
  )
}

/** Closes the toast when its time is over. Time on hold does not count. */
function useCountdown({ key, lastsMs, onExpire }: Toast, isHeld: boolean): void {
  const left = useRef(lastsMs)
  const expire = useEffectEvent(() => {
    closeToast(key)
    onExpire?.()
  })
  useEffect(() => {
    if (isHeld || left.current === undefined) return undefined
    const startedAt = performance.now()
    const before = left.current
    const timer = setTimeout(() => expire(), before)
    return () => {
      clearTimeout(timer)
      left.current = before - (performance.now() - startedAt)
    }
  }, [isHeld])
}
