import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { sendDeletions } from '../deletions.ts'
import { announceSwitch, chooseWorkspace } from '../workspace-choice.ts'

/**
 * Switches this tab to a workspace: forgets all data of the former one, opens the overview, and
 * starts the frame with its event stream anew.
 * @returns a function that takes the workspace, or null for the first one of the account
 */
export function useSwitchWorkspace(): (id: string | null) => Promise<void> {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const router = useRouter()
  return async (id) => {
    // Before the choice, which is that of every request from then on.
    await sendDeletions()
    chooseWorkspace(id)
    await queries.cancelQueries()
    queries.clear()
    await navigate({ to: '/home' })
    await router.invalidate()
    announceSwitch()
  }
}
