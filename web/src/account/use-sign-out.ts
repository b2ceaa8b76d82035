import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../api.ts'
import { sendDeletions } from '../deletions.ts'
import { announceSession } from '../session.ts'

/** Ends the session, in all tabs of this browser, and opens the public page. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return async () => {
    await sendDeletions()
    await api.signOut()
    queries.clear()
    announceSession('signed-out')
    await navigate({ to: '/' })
  }
}
