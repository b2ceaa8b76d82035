import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { batches, type ListDraft } from './api.ts'

const TYPING_PAUSE_MS = 500

/** Reads a list with the service a moment after the last change; without a list, nothing. */
export function useListPreview(draft: ListDraft | null) {
  const text = JSON.stringify(draft)
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const { data, error, isFetching } = useQuery({
    queryKey: ['batches', 'read', settled],
    queryFn: () => batches.read(JSON.parse(settled) as ListDraft),
    enabled: settled !== 'null',
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    // It contains passwords.
    gcTime: 0,
    retry: false,
  })
  return {
    read: draft === null ? undefined : data,
    error,
    isReading: isFetching || text !== settled,
  }
}
