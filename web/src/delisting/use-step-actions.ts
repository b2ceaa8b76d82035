import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { delisting, delistingQuery, type DelistingWithHistory } from './api.ts'

type Action = 'confirm' | 'submitted' | 'retry' | 'cancel'

const RUN: Record<Action, (id: string, stepId: string) => Promise<DelistingWithHistory>> = {
  ...delisting,
  confirm: (id, stepId) => delisting.confirm(id, stepId, {}),
}

/** Runs an action on a step and shows the changed delisting. */
export function useStepActions(delistingId: string, stepId: string) {
  const queries = useQueryClient()
  const [state, setState] = useState<{ busy: Action | null; problem: string }>({
    busy: null,
    problem: '',
  })

  async function run(action: Action): Promise<void> {
    setState({ busy: action, problem: '' })
    try {
      const changed = await RUN[action](delistingId, stepId)
      queries.setQueryData(delistingQuery(delistingId).queryKey, changed)
      setState({ busy: null, problem: '' })
    } catch (error) {
      setState({ busy: null, problem: (error as Error).message })
    }
  }
  return { run, ...state }
}

export type StepActions = ReturnType<typeof useStepActions>
