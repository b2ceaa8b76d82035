import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef } from 'react'
import { AccountFrame } from '../frame/account-frame.tsx'
import { accountQuery } from '../queries.ts'
import { choiceCount, returnToFirst, useLostWorkspace, useSwitches } from '../workspace-choice.ts'
import { useSwitchWorkspace } from './use-switch-workspace.ts'

/** The frame of a workspace, which starts anew with every switch. */
export function WorkspaceFrame() {
  const lostAt = useLostWorkspace()
  const switchWorkspace = useSwitchWorkspace()
  const openFirst = useEffectEvent(() => void switchWorkspace(null))
  useEffect(() => {
    if (lostAt > 0) openFirst()
  }, [lostAt])
  useLossOfFirst()
  return <AccountFrame key={useSwitches()} />
}

/**
 * Requests without a choice get the first workspace: after the account has lost that one, they get
 * the next one, without an error.
 */
function useLossOfFirst(): void {
  const { data: account } = useQuery(accountQuery)
  const id = account?.workspace.id
  const seen = useRef({ id, choices: choiceCount() })
  useEffect(() => {
    if (id === undefined) return
    const before = seen.current
    seen.current = { id, choices: choiceCount() }
    const isOther = before.id !== undefined && before.id !== id
    if (isOther && before.choices === choiceCount()) returnToFirst()
  }, [id])
}
