import type { AuthHooks } from '../http/auth.ts'
import type { AbuseServices } from './create-services.ts'

export type AbuseRoutesOptions = AbuseServices & { authHooks: AuthHooks }

export const TAGS = ['Attack reporting']
