import { createContext, use } from 'react'

/** The path of the field that the address names; empty for none. */
export const TargetField = createContext<string[]>([])

export const useTargetField = () => use(TargetField)
