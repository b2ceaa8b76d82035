import { useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useState } from 'react'
import { updateOptimistically } from '../../optimistic-update.ts'
import { dmarc, type Sender, type Summary } from '../api.ts'

export type Mark = (sender: Pick<Sender, 'id'>, chosen: Sender['mark']) => void

/** Marks senders of a domain, in the summary at once. */
export function useMarks(id: string, queryKey: QueryKey): { mark: Mark; problem: string } {
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')
  const mark: Mark = (sender, chosen) => {
    const apply = (before: Summary): Summary => ({
      ...before,
      senders: before.senders.map((one) => (one.id === sender.id ? { ...one, mark: chosen } : one)),
    })
    setProblem('')
    const send = () => dmarc.markSender(id, sender.id, chosen)
    updateOptimistically(queries, queryKey, apply, send).catch((error: Error) =>
      setProblem(error.message),
    )
  }
  return { mark, problem }
}
