import type { ManagedAccount } from './api.ts'

export type Plan = ManagedAccount['plan']

/** With the migrations a month that each allows. */
export const PLANS: { value: Plan; name: string }[] = [
  { value: 'free', name: 'free (1)' },
  { value: 'starter', name: 'starter (5)' },
  { value: 'pro', name: 'pro (20)' },
  { value: 'business', name: 'business (50)' },
  { value: 'enterprise', name: 'enterprise (no limit)' },
]
