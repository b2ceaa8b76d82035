import { startTransition, useEffect, useState } from 'react'
import { inService } from '../base-path.ts'
import type { OpenApiDocument } from './document/openapi.ts'
import { readReference, type Reference } from './document/reference.ts'

export type Loading =
  | { state: 'loading' }
  | { state: 'failed'; retry: () => void }
  | { state: 'loaded'; reference: Reference }

async function load(): Promise<Reference> {
  const response = await fetch(inService('/openapi.json'))
  if (!response.ok) throw new Error(`/openapi.json answered ${response.status}`)
  return readReference((await response.json()) as OpenApiDocument)
}

/** Begins before the first render, while the browser still reads the rest of the script. */
let request: Promise<Reference> | null = load()
// Reported by the component that waits for it.
request.catch(() => {})

export function useReference(): Loading {
  const [loading, setLoading] = useState<Loading>({ state: 'loading' })
  useEffect(() => {
    let isCurrent = true
    const begin = () => {
      setLoading({ state: 'loading' })
      request ??= load()
      request.then(
        // In short steps, as in main.tsx.
        (reference) =>
          startTransition(() => {
            if (isCurrent) setLoading({ state: 'loaded', reference })
          }),
        () => {
          request = null
          if (isCurrent) setLoading({ state: 'failed', retry: begin })
        },
      )
    }
    begin()
    return () => {
      isCurrent = false
    }
  }, [])
  return loading
}
