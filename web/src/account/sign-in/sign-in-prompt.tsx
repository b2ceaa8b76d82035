import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import { inService } from '../../base-path.ts'
import { api, ApiError } from '../../api.ts'
import { isDemo } from '../../frame/demo-banner.tsx'
import { loadLater } from '../../frame/load-later.tsx'
import { accountQuery } from '../../queries.ts'
import {
  announceSession,
  onSessionNews,
  setSessionExpired,
  signInPrompt,
  useIsSessionExpired,
  type SessionNews,
} from '../../session.ts'
import { ConfirmDialog } from '../../ui/actions/confirm.tsx'
import { announceSwitch } from '../../workspace-choice.ts'
import { signInPrompt as messages } from '../messages.ts'

const SignInAgain = loadLater(
  'the sign-in',
  async () => (await import('./sign-in-again.tsx')).SignInAgain,
)

/** For the banner, which says the same as the dialog. */
const markAsking = (isAsking: boolean) =>
  document.documentElement.toggleAttribute('data-asks-to-sign-in', isAsking)

/**
 * Signs in again in a dialog when the session of the account on the screen has ended. The screen
 * below keeps its input, and the rejected requests are repeated.
 */
export function SignInPrompt() {
  const dialog = useRef<HTMLDialogElement>(null)
  const answer = useRef<(isSignedIn: boolean) => void>(null)
  const heading = useId()
  // A new form each time, so that neither the password nor an earlier error remains.
  const [times, setTimes] = useState(0)
  const isExpired = useIsSessionExpired()
  const { data: account } = useQuery(accountQuery)
  const continueSession = useContinueSession()

  const ask = useEffectEvent(async (isUserAction: boolean): Promise<boolean> => {
    if (isDemo) {
      // The demo began again, with other data.
      await api.enterDemo()
      window.location.assign(inService('/home'))
      return false
    }
    // After “Not now”, only what the user does asks again. Without an account the user has left.
    if ((isExpired && !isUserAction) || !account) return false
    setSessionExpired(true)
    setTimes((before) => before + 1)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    answer.current = resolve
    dialog.current?.showModal()
    markAsking(true)
    return promise
  })
  useEffect(() => signInPrompt.onAsk((isUserAction) => ask(isUserAction)), [])
  // Another account, or none, begins with a frame of its own.
  useEffect(
    () => () => {
      setSessionExpired(false)
      markAsking(false)
    },
    [],
  )

  /** @returns whether there is a session now */
  async function resume(): Promise<boolean> {
    const state = await continueSession()
    if (state === 'none') return false
    answer.current?.(state === 'same account')
    dialog.current?.close()
    return true
  }
  async function finish(): Promise<void> {
    if (!(await resume())) throw new ApiError(0, { error: messages.stillSignedOut })
    announceSession('signed-in')
  }
  useOtherTabs(resume)

  return (
    <ConfirmDialog
      ref={dialog}
      heading={heading}
      title={messages.title}
      onClose={() => {
        markAsking(false)
        answer.current?.(false)
      }}
    >
      <p>{messages.explanation}</p>
      {times > 0 && (
        <SignInAgain key={times} onDone={finish} onCancel={() => dialog.current?.close()} />
      )}
    </ConfirmDialog>
  )
}

type SessionState = 'none' | 'same account' | 'other account'

/** Compares the new session with the account on the screen, and continues with what it finds. */
function useContinueSession(): () => Promise<SessionState> {
  const queries = useQueryClient()
  const router = useRouter()
  return async () => {
    const before = queries.getQueryData(accountQuery.queryKey)
    const account = await api.account()
    if (!account) return 'none'
    setSessionExpired(false)
    if (account.id === before?.id) {
      queries.setQueryData(accountQuery.queryKey, account)
      void queries.invalidateQueries()
      return 'same account'
    }
    // The screen shows another account’s data.
    queries.clear()
    router.history.replace(inService('/home'))
    await router.invalidate()
    announceSwitch()
    return 'other account'
  }
}

/** Follows sign-ins and sign-outs in other tabs of the browser. */
function useOtherTabs(resume: () => Promise<boolean>): void {
  const queries = useQueryClient()
  const router = useRouter()
  const isExpired = useIsSessionExpired()
  const resumeQuietly = useEffectEvent(() => void resume().catch(() => false))
  const onNews = useEffectEvent((news: SessionNews) => {
    if (news === 'signed-in') {
      resumeQuietly()
    } else {
      // Left on purpose: nothing of the account stays on the screen.
      queries.clear()
      void router.invalidate()
    }
  })
  useEffect(() => onSessionNews((news) => onNews(news)), [])
  useEffect(() => {
    if (!isExpired) return undefined
    const look = () => document.hidden || resumeQuietly()
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [isExpired])
}
