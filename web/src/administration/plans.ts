import type { ManagedAccount } from './api.ts'
import { planNames } from './messages.ts'

export type Plan = ManagedAccount['plan']

export const PLANS = Object.entries(planNames).map(([value, name]) => ({
  value: value as Plan,
  name,
}))
