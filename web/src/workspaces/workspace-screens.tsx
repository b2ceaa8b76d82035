import { useQuery } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { useDeferredValue, useEffect, useEffectEvent, useRef } from 'react'
import { PasswordPrompt } from '../account/password-prompt.tsx'
import { SignInPrompt } from '../account/sign-in/sign-in-prompt.tsx'
import { useLiveTab } from '../live-updates.ts'
import { accountQuery } from '../queries.ts'
import { ScreenSkeleton } from '../ui/feedback/skeleton.tsx'
import { choiceCount, returnToFirst, useLostWorkspace, useSwitches } from '../workspace-choice.ts'
import { useSwitchWorkspace } from './use-switch-workspace.ts'

/** The screens of a workspace, which restart with every switch. */
export function WorkspaceScreens() {
  const lostAt = useLostWorkspace()
  const switchWorkspace = useSwitchWorkspace()
  const openFirst = useEffectEvent(() => void switchWorkspace(null))
  useEffect(() => {
    if (lostAt > 0) openFirst()
  }, [lostAt])
  useLossOfFirst()
  return <Screens key={useSwitches()} />
}

function Screens() {
  useLiveTab()
  // The first screen is rendered in short steps, between which the browser responds.
  const isPrepared = useDeferredValue(true, false)
  return (
    <>
      {isPrepared ? <Outlet /> : <ScreenSkeleton />}
      <PasswordPrompt />
      <SignInPrompt />
    </>
  )
}

/**
 * Requests without a choice get the first workspace: after the account has lost that one, they get
 * the next one, without an error.
 */
function useLossOfFirst(): void {
  const { data: account } = useQuery(accountQuery)
  const id = account?.workspace.id
  const accountId = account?.id
  const seen = useRef({ id, accountId, choices: choiceCount() })
  useEffect(() => {
    if (id === undefined) return
    const before = seen.current
    seen.current = { id, accountId, choices: choiceCount() }
    const isOther = before.id !== undefined && before.id !== id && before.accountId === accountId
    if (isOther && before.choices === choiceCount()) returnToFirst()
  }, [id, accountId])
}
