import type { Door } from '../http/auth.ts'
import type { Parts } from './parts.ts'

export type AbuseRoutesOptions = Parts & { door: Door }

export const TAGS = ['Attack reporting']
