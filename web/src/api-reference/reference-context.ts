import { createContext, use } from 'react'
import type { Schemas } from './document/schema.ts'

type ReferenceValue = {
  schemas: Schemas
  /** Origin of this service, which the samples address. */
  baseUrl: string
}

export const ReferenceContext = createContext<ReferenceValue>({ schemas: {}, baseUrl: '' })

export const useReferenceContext = () => use(ReferenceContext)
