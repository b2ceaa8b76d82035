import { useEffect, useEffectEvent } from 'react'
import { AccountFrame } from '../frame/account-frame.tsx'
import { useLostWorkspace, useSwitches } from '../workspace-choice.ts'
import { useSwitchWorkspace } from './use-switch-workspace.ts'

/** The frame of a workspace, which starts anew with every switch. */
export function WorkspaceFrame() {
  const lostAt = useLostWorkspace()
  const switchWorkspace = useSwitchWorkspace()
  const openFirst = useEffectEvent(() => void switchWorkspace(null))
  useEffect(() => {
    if (lostAt > 0) openFirst()
  }, [lostAt])
  return <AccountFrame key={useSwitches()} />
}
